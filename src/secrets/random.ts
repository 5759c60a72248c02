/** Random secrets such as tokens and API keys: generated here, and only stored as a hash. */
import { randomBytes } from 'node:crypto';

/** 256 random bits, in characters that are safe in URLs. */
export function createRandomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The stored form of a secret: with this many random bits it needs no slow hash. */
export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex');
}
