/** Mail while no more files can be opened: the first one waits for that to pass, as any other would. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const mailer = join(import.meta.dir, '..', '..', 'src', 'ports', 'mail.ts');

/** A process that sends a mail while it holds as many files as it may, and once more when it holds none. */
const sender = `
  import { closeSync, openSync, readdirSync } from 'node:fs';
  import { createMailer } from ${JSON.stringify(mailer)};
  const DATA_DIR = process.env.DATA_DIR;
  const { send } = createMailer({ DATA_DIR, MAIL_FROM: 'Shop <shop@shop.example>' });
  const to = { name: 'Ada', address: 'ada@shop.example' };
  const mail = { messageId: '<1@shop.example>', to, subject: 'Hello', text: 'Text', html: '', attachments: [] };
  const held = [];
  try {
    for (;;) held.push(openSync('/dev/null', 'r'));
  } catch {}
  const early = await send(mail).then(() => 'sent', () => 'failed');
  for (const file of held) closeSync(file);
  await send(mail);
  console.log(early, readdirSync(DATA_DIR + '/outbox').length);
`;

test('a library that could not be loaded for lack of open files is loaded later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-open-files-'));
  try {
    const limited = ['sh', '-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, '-e', sender];
    const child = Bun.spawn(limited, { env: { ...process.env, DATA_DIR: folder }, stderr: 'inherit' });
    expect(await new Response(child.stdout).text()).toBe('failed 1\n');
    expect(await child.exited).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
