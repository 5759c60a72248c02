/** Password hashing: argon2id with the parameters OWASP recommends (19 MiB, 2 passes). */
const parameters = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

/**
 * The form in which a password is hashed (RFC 8265 §4.2.2): keyboards and systems differ in how they write accents, and
 * in the spaces that they insert.
 */
const toPrepared = (password: string): string => password.replace(/\p{Zs}/gu, ' ').normalize('NFC');

export const hashPassword = (password: string) => Bun.password.hash(toPrepared(password), parameters);

export type PasswordCheck = ReturnType<typeof createPasswordCheck>;

export function createPasswordCheck() {
  let decoy: Promise<string> | undefined;
  return {
    /** Takes the same time whether or not there is a hash to compare. Earlier releases hashed passwords as sent. */
    async verify(password: string, hash: string | null | undefined): Promise<boolean> {
      decoy ??= hashPassword(crypto.randomUUID());
      for (const form of new Set([toPrepared(password), password])) {
        const matches = await Bun.password.verify(form, hash ?? (await decoy));
        if (matches) return typeof hash === 'string';
      }
      return false;
    },
  };
}
