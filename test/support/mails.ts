/** The mails that the service has written into its outbox folder, parsed as a mail program would. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';

export type { Email } from 'postal-mime';

export async function mailsIn(folder: string): Promise<Email[]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter(name => name.endsWith('.eml'));
  return Promise.all(files.map(name => PostalMime.parse(readFileSync(join(folder, name)))));
}
