/** The command line of `npm run fuzz`. */
import { parseArgs } from 'node:util';
import { type DatabaseKind, databaseKinds } from '../test/support/service/service.ts';

interface Options {
  /** Requests to send to each database. */
  readonly requests: number;
  readonly seed: number;
  readonly kinds: readonly DatabaseKind[];
}

export const help = `Usage: npm run fuzz -- [OPTIONS]

Sends valid, borderline and hostile requests to every operation of the OpenAPI document, and fails if a response is a
5xx, contradicts the document, reveals internals, or does not arrive.

  --requests N     requests to send to each database (5000)
  --seed N         repeats a run; without it, each run draws a new one
  --database KIND  sqlite (default), postgresql or both

Exit status: 0 no request failed; 1 some failed; 2 the command line is wrong.`;

/** @throws Error that says what is wrong with the command line */
export function readOptions(args: string[]): Options | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      requests: { type: 'string', default: '5000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      database: { type: 'string', default: 'sqlite' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const kinds = databaseKinds.filter(kind => values.database === 'both' || values.database === kind);
  if (kinds.length === 0)
    throw new Error(`--database: ${values.database} is not one of ${databaseKinds.join(', ')}, both`);
  return {
    requests: readCount('requests', values.requests),
    seed: readCount('seed', values.seed),
    kinds,
  };
}

function readCount(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${option}: ${text} is not a whole number`);
  return Number(text);
}
