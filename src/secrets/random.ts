/** Random secrets, as tokens and API keys are: made here, and kept as their hash, never themselves. */
import { randomBytes } from 'node:crypto';

/** 256 random bits, of letters that may stand in a URL. */
export function createRandomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What a secret is kept as: so many random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex');
}
