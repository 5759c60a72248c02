/** Password hashing: argon2id with the parameters OWASP recommends (19 MiB, 2 passes). */
const parameters = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

export const hashPassword = (password: string) => Bun.password.hash(password, parameters);

export interface PasswordCheck {
  /** Takes the same time whether or not there is a hash to compare with. */
  verify(password: string, hash: string | null | undefined): Promise<boolean>;
}

export function createPasswordCheck(): PasswordCheck {
  let decoy: Promise<string> | undefined;
  return {
    async verify(password, hash) {
      decoy ??= hashPassword(crypto.randomUUID());
      const matches = await Bun.password.verify(password, hash ?? (await decoy));
      return matches && typeof hash === 'string';
    },
  };
}
