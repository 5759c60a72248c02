/** The mails that the service has written to its outbox folder, parsed as a mail client would. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import type { TestService } from '../service/service.ts';

export type { Email } from 'postal-mime';

/** @param parsed mails that earlier calls parsed, by file name: a mail in the outbox does not change */
export async function mailsIn(folder: string, parsed: Map<string, Email>): Promise<Email[]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter(name => name.endsWith('.eml'));
  return Promise.all(
    files.map(async name => {
      const mail = parsed.get(name) ?? (await PostalMime.parse(readFileSync(join(folder, name))));
      parsed.set(name, mail);
      return mail;
    }),
  );
}

/** The one mail to an address. @throws Error when there is none, or more than one */
export function mailTo(mails: readonly Email[], address: string): Email {
  const found = mails.filter(mail => mail.to?.some(to => to.address === address));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} mails were sent to ${address}`);
  return only;
}

/** The token of the link in a mail. @throws Error when there is none, or another one in the HTML */
export function tokenIn({ text = '', html = '' }: Email): string {
  const [plain, linked] = [text, html].map(part => /[?&]token=([\w-]+)/.exec(part)?.[1]);
  if (plain === undefined || plain !== linked) throw new Error(`no token, or two of them: ${text} ${html}`);
  return plain;
}

/** The mails that `work` causes. */
export async function mailsOf(service: TestService, work: () => Promise<unknown>): Promise<Email[]> {
  const known = new Set((await service.mails()).map(({ messageId }) => messageId));
  await work();
  return (await service.mails()).filter(({ messageId }) => !known.has(messageId));
}
