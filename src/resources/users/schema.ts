/** The schema of users. */
import { z } from 'zod';
import { roles } from '../../http/access.ts';
import { listParameters } from '../../http/paginate.ts';
import {
  anyText,
  count,
  emailAddress,
  identifier,
  isStorable,
  notStorable,
  oneOf,
  text,
  timestamp,
} from '../../http/schema.ts';
import { buildHalSchemas } from '../crud/schema.ts';

/** Checks the length first: matching a long text against the address pattern takes much time and memory. */
export const email = z.string().max(254, { abort: true }).check(emailAddress);
/** At least 10 characters; the upper limit keeps hashing from being abused to overload the service. */
export const newPassword = z
  .string()
  .min(10)
  .max(200)
  // All unpaired surrogates would be hashed as the same character.
  .refine(isStorable, notStorable)
  .meta({ format: 'password', pattern: anyText });

const name = text(200);
const role = oneOf(roles);
const tags = z.array(text(50)).max(50);

export const user = z
  .object({
    id: identifier(),
    name,
    email,
    role,
    tags,
    version: count(1),
    pendingEmail: email
      .nullable()
      .describe('The new address that the user requested; it takes effect once confirmed.')
      .meta({ examples: ['ada@new.example'] }),
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
      pendingEmail: null,
      verifiedAt: '2026-01-15T09:30:00.000Z',
      createdAt: '2026-01-15T09:30:00.000Z',
      updatedAt: '2026-01-15T09:30:00.000Z',
    },
  });

/** POST: without a password, the user gets a mail to set one. */
export const createUser = z
  .object({
    name,
    email,
    role: role.nullish().describe('Default: user.'),
    tags: tags.nullish(),
    password: newPassword.nullish(),
  })
  .meta({ id: 'CreateUser' });
export const createUserExample = {
  name: 'Ada Winter',
  email: 'ada@shop.example',
  role: 'user',
  tags: ['wholesale'],
};

const currentPassword = z
  .string()
  .max(200)
  .nullish()
  .describe('Required from users who change their own e-mail address. Not stored.')
  .meta({ format: 'password' });
const complete = z.object({ name, email, role, tags: tags.nullish(), currentPassword });

/** PUT: omitted tags become none. */
export const replaceUser = complete
  .transform(input => ({
    name: input.name,
    email: input.email,
    role: input.role,
    tags: input.tags ?? [],
    // An empty password counts as absent.
    currentPassword: input.currentPassword || undefined,
  }))
  .meta({ id: 'ReplaceUser' });

export const patchUser = complete.partial().meta({ id: 'PatchUser' });

export const mailTokenExample = 'mK3v0c5zq1hXbGdsWzEsMjAsMjBdmK3v0c5zq1hXbGd';
export const mailToken = z
  .string()
  .min(1)
  .max(100)
  .describe('The token from the link in the mail.')
  .meta({ pattern: '^[\\w-]+$', examples: [mailTokenExample] });

export const verification = z.object({ token: mailToken.nullish() }).meta({ id: 'Verification' });
export const verifyRequest = z.object({ token: mailToken }).meta({ id: 'VerifyRequest' });
export const addressRestoration = z
  .object({ token: mailToken, password: newPassword })
  .meta({ id: 'AddressRestoration' });
export const verified = z.object({ verifiedAt: timestamp() }).meta({ id: 'Verified' });

export const { hal, page } = buildHalSchemas(user, 'users', {
  sometimes: ['orders', 'edit', 'delete', 'passwordReset', 'verify'],
});

export const sortColumns = { id: 'id', name: 'name', email: 'email', createdAt: 'created_at' } as const;

export const listUsers = z.object({
  role: role.optional().describe('Only users with this role.'),
  email: text(254)
    .optional()
    .meta({
      description: 'Only the user with this address, regardless of case.',
      examples: ['ada@shop.example'],
    }),
  ...listParameters(sortColumns),
});

export type User = z.output<typeof user>;
/** The complete fields of a change, and the password that some changes require. */
export type ChangedFields = z.output<typeof replaceUser>;
/** The complete fields that a write sets. */
export type UserFields = Omit<ChangedFields, 'currentPassword'>;
