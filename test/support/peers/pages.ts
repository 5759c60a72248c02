/** The commands that the README and the guide show, with the output shown for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dir, '..', '..', '..');

/** The service's address in the pages. */
export const shownAddress = 'http://127.0.0.1:3000';

export interface Example {
  readonly command: string;
  /** Whether Ada, the page's customer, runs it; otherwise an administrator does. */
  readonly asAda: boolean;
  /** The output that the page shows, if any. */
  readonly output: string | undefined;
}

const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

/** The blocks with curl, and the requests written as `GET /path`, each with the block that follows. */
export function examplesOf(page: string): Example[] {
  const commands =
    /```sh\n([^`]*?curl[\s\S]*?)```\n(?:\n(?:[^\n`#|][^\n]*\n+)?```(?:json)?\n([\s\S]*?)```)?|`GET (\/v1\/\S+)`:\n\n```json\n([\s\S]*?)```/g;
  return [...textOf(page).matchAll(commands)].map(([, block, output, path, shown]) =>
    path === undefined
      ? { command: block ?? '', asAda: false, output }
      : {
          asAda: path.startsWith('/v1/notifications'),
          command: `curl -s "${shownAddress}${path}" -H "Authorization: Bearer $TOKEN"`,
          output: shown,
        },
  );
}

/** The lines of a page's shell blocks that call npm. */
export function npmCommandsOf(page: string): string[] {
  const blocks = [...textOf(page).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks
    .flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
    .map(line => line.replace(/ {2,}#.*$/, ''))
    .filter(line => /\bnpm (?:run|start|test)\b/.test(line));
}

/** Whether the output is as shown, where `…` stands for anything. */
export function isAsShown(output: string, shown: string): boolean {
  const parts = normal(shown)
    .split('…')
    .map(part => RegExp.escape(part));
  return new RegExp(parts.join('[\\s\\S]*?')).test(normal(output));
}

/** The text with one word in place of each kind of value that differs from run to run, and without white space. */
function normal(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT')
    .replace(/("issueDate":\s*")[\d-]{10}/g, '$1DAY')
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}/g, 'UUID')
    .replace(/eyJ[\w-]+(?:\.[\w-]+){2}/g, 'TOKEN')
    .replace(/eyJ[\w-]+\.…/g, 'TOKEN')
    .replace(/ck_[\w-]+…?/g, 'KEY')
    .replace(/("nextCursor":\s*"|cursor=)[\w-]{10,}/g, '$1CURSOR')
    .replace(/\s+/g, '');
}
