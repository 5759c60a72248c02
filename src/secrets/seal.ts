/** Encrypts text in the database that may hold secrets (AES-256-GCM, with a key derived from the service's secret). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secrets } from './index.ts';

export type Seal = ReturnType<typeof createSeal>;

/**
 * @param secrets texts are sealed with a key derived from the first; all are tried to open them
 * @param purpose the kind of text: a seal for one purpose does not open texts sealed for another
 */
export function createSeal(secrets: Secrets, purpose: string) {
  const deriveKey = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', `catalog ${purpose}`, 32));
  const newest = deriveKey(secrets[0]);
  const keys = secrets.map(deriveKey);
  return {
    close(text: string): string {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', newest, nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    },
    /** The text; undefined if it was sealed with a secret that is no longer known, or was changed since. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64');
      for (const key of keys) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
          decipher.setAuthTag(bytes.subarray(12, 28));
          return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
        } catch {
          // Sealed with another secret: the next may fit.
        }
      }
      return undefined;
    },
  };
}
