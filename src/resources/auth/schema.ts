/** THE schema of signing in and out. */
import { z } from 'zod';
import { prose } from '../../http/schema.ts';

export const credentials = z
  .object({ email: prose(254), password: z.string().max(200) })
  .meta({ id: 'Credentials' });

export const refreshRequest = z
  .object({ refreshToken: z.string().min(1).max(4096) })
  .meta({ id: 'RefreshRequest' });

const accessToken = z.string().max(4096).describe('Signed JWT; send it as Authorization: Bearer.');
const expiresIn = z.int().min(1).max(86_400).describe('Lifetime of the access token in seconds.');

export const tokenPair = z
  .object({
    accessToken,
    refreshToken: z.string().max(4096).describe('Signed JWT for /auth/refresh.'),
    expiresIn,
  })
  .meta({ id: 'TokenPair' });

export const accessTokenOnly = z.object({ accessToken, expiresIn }).meta({ id: 'AccessToken' });
