/** Password hashing: argon2id with the parameters OWASP recommends (19 MiB, 2 passes). */
const parameters = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

export const hashPassword = (password: string) => Bun.password.hash(password, parameters);

export type PasswordCheck = ReturnType<typeof createPasswordCheck>;

export function createPasswordCheck() {
  let decoy: Promise<string> | undefined;
  return {
    /** Takes the same time whether or not there is a hash to compare. */
    async verify(password: string, hash: string | null | undefined): Promise<boolean> {
      decoy ??= hashPassword(crypto.randomUUID());
      const matches = await Bun.password.verify(password, hash ?? (await decoy));
      return matches && typeof hash === 'string';
    },
  };
}
