/** The schema of signing in and out. */
import { z } from 'zod';
import { text } from '../../http/schema.ts';
import { mailToken, newPassword } from '../users/schema.ts';

/** The three parts of a JWT, in base64url. */
const pattern = '^[\\w-]+\\.[\\w-]+\\.[\\w-]+$';
const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VySWQiOiIxIn0.c2lnbmF0dXJl';

/** The minimum length is checked only when a password is set. */
const currentPassword = z.string().min(1).max(200).meta({ format: 'password' });

export const credentials = z
  .object({ email: text(254), password: currentPassword })
  .meta({ id: 'Credentials' });

export const refreshRequest = z
  .object({
    refreshToken: z
      .string()
      .min(1)
      .max(4096)
      .meta({ format: 'password', examples: [jwt] }),
  })
  .meta({ id: 'RefreshRequest' });

const accessToken = z
  .string()
  .max(4096)
  .describe('Signed JWT; send it as Authorization: Bearer.')
  .meta({ pattern, examples: [jwt] });
const expiresIn = z
  .int()
  .min(1)
  .max(86_400)
  .describe('Lifetime of the access token in seconds.')
  .meta({ examples: [900] });

export const tokenPair = z
  .object({
    accessToken,
    refreshToken: z
      .string()
      .max(4096)
      .describe('Signed JWT for /auth/refresh.')
      .meta({ pattern, examples: [jwt] }),
    expiresIn,
  })
  .meta({ id: 'TokenPair' });

export const accessTokenOnly = z.object({ accessToken, expiresIn }).meta({ id: 'AccessToken' });

export const passwordChange = z.object({ currentPassword, newPassword }).meta({ id: 'PasswordChange' });

export const accountDeletion = z.object({ currentPassword }).meta({ id: 'AccountDeletion' });

export const forgotPassword = z.object({ email: text(254) }).meta({ id: 'ForgotPassword' });
export const passwordReset = z
  .object({ token: mailToken, password: newPassword })
  .meta({ id: 'PasswordReset' });
