/** THE schema of users. */
import { z } from 'zod';
import { roles } from '../../http/access.ts';
import { identifier, text, timestamp } from '../../http/schema.ts';

export const email = z.email('must be an e-mail address').max(254);
/** 10 characters or more; the upper limit keeps hashing from being a way to keep the service busy. */
export const newPassword = z.string().min(10).max(200);

export const user = z
  .object({
    id: identifier(),
    name: text(200),
    email,
    role: z.enum(roles),
    tags: z.array(text(50)).max(50),
    version: z.int().min(1),
    verifiedAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  })
  .meta({
    id: 'User',
    example: {
      id: 1,
      name: 'Ada Winter',
      email: 'ada@shop.example',
      role: 'admin',
      tags: [],
      version: 1,
      verifiedAt: '2026-01-15T09:30:00.000Z',
      createdAt: '2026-01-15T09:30:00.000Z',
      updatedAt: '2026-01-15T09:30:00.000Z',
    },
  });

export type User = z.output<typeof user>;
