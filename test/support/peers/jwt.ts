/** JSON Web Tokens made by hand, valid and invalid. */
import { createHmac } from 'node:crypto';

/** The secret with which the services under test sign. */
const testSecret = 'a secret for tests that is long enough for HS256';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function decode(token: string): { header: Record<string, unknown>; payload: Record<string, unknown> } {
  const [header, payload] = token.split('.').map(part => Buffer.from(part, 'base64url').toString());
  return { header: JSON.parse(header ?? ''), payload: JSON.parse(payload ?? '') };
}

export function forge(
  payload: object,
  { header = { alg: 'HS256', typ: 'JWT' }, hash = 'sha256', secret = testSecret }: ForgeOptions = {},
): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  const signature = hash === '' ? '' : createHmac(hash, secret).update(signed).digest('base64url');
  return `${signed}.${signature}`;
}

export interface ForgeOptions {
  readonly header?: object;
  /** The hash of the HMAC; empty for an empty signature. */
  readonly hash?: string;
  readonly secret?: string;
}
