/** What README and guide show: each command is run against a service that was just started, and its output compared. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Place, type Running, waitFor } from './cli/program.ts';
import { signIn } from './support/service.ts';

setDefaultTimeout(120_000);

const root = join(import.meta.dir, '..');
const shownAddress = 'http://127.0.0.1:3000';

interface Example {
  readonly command: string;
  /** Whether Ada, the page's customer, runs it; an administrator otherwise. */
  readonly asAda: boolean;
  /** What the page shows as its output, if anything. */
  readonly output: string | undefined;
}

/** The blocks with curl, and requests given as `GET /path`, each with the block that follows. */
function examplesOf(page: string): Example[] {
  const text = readFileSync(join(root, page), 'utf8');
  const commands =
    /```sh\n([^`]*?curl[\s\S]*?)```\n(?:\n(?:[^\n`#|][^\n]*\n+)?```(?:json)?\n([\s\S]*?)```)?|`GET (\/v1\/\S+)`:\n\n```json\n([\s\S]*?)```/g;
  return [...text.matchAll(commands)].map(([, block, output, path, shown]) =>
    path === undefined
      ? { command: block ?? '', asAda: false, output }
      : {
          asAda: path.startsWith('/v1/notifications'),
          command: `curl -s "${shownAddress}${path}" -H "Authorization: Bearer $TOKEN"`,
          output: shown,
        },
  );
}

/** What differs from run to run, each as one word; white space does not matter. */
function normal(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT')
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, 'UUID')
    .replace(/eyJ[\w-]+(?:\.[\w-]+){2}/g, 'TOKEN')
    .replace(/eyJ[\w-]+\.…/g, 'TOKEN')
    .replace(/ck_[\w-]+…?/g, 'KEY')
    .replace(/("nextCursor":\s*"|cursor=)[\w-]{10,}/g, '$1CURSOR')
    .replace(/\s+/g, '');
}

/** `…` stands for anything. */
function pattern(shown: string): RegExp {
  const parts = normal(shown)
    .split('…')
    .map(part => RegExp.escape(part));
  return new RegExp(parts.join('[\\s\\S]*?'));
}

let place: Place;
let service: Running;
let url = '';
let password = '';
beforeAll(async () => {
  place = await createPlace('sqlite', { HOST: '127.0.0.1' });
  service = place.start(['serve', '--sample', '--port', '0']);
  const greeting = /ready at (\S+)[\s\S]*password +(\S+)\n/;
  [, url = '', password = ''] = await waitFor(service.stderr, greeting);
});
afterAll(async () => {
  service.kill('SIGTERM');
  await service.exited;
  place.remove();
});

async function run(command: string, token: string): Promise<string> {
  const real = command.replaceAll(shownAddress, url).replaceAll('<the printed password>', password);
  const child = Bun.spawn(['bash', '-c', real.replaceAll(/\bcurl /g, 'curl -s ')], {
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? '', TOKEN: token },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, status] = [await child.stdout.text(), await child.stderr.text(), await child.exited];
  expect([command, status, err]).toEqual([command, 0, '']);
  return out.replaceAll(url, shownAddress);
}

test.each(['README.md', 'docs/guide.md'])('%s', async page => {
  const accessToken = await signIn(url, 'admin@catalog.example', password);
  const examples = examplesOf(page);
  expect(examples.length).toBeGreaterThan(page === 'README.md' ? 0 : 6);
  const wrong: object[] = [];
  for (const { command, asAda, output } of examples) {
    const token = asAda ? await signIn(url, 'ada@shop.example', 'correct horse battery') : accessToken;
    let [out, asShown] = ['', false];
    // Notifications follow soon after what they are about.
    for (let attempt = 0; attempt < (asAda ? 100 : 1) && !asShown; attempt++) {
      out = await run(command, token);
      asShown = output === undefined || pattern(output).test(normal(out));
    }
    if (!asShown || out.includes('"error":"NOT_FOUND"')) wrong.push({ command, output, out });
  }
  expect(wrong).toEqual([]);
});
