/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';
import { scenarios } from '../load/scenarios.ts';
import { type DatabaseKind, databaseKinds } from '../servers/databases.ts';

export interface Options {
  readonly quick: boolean;
  readonly sizes: readonly number[];
  readonly databases: readonly DatabaseKind[];
  readonly rounds: number;
  readonly milliseconds: number;
  /** Names of scenarios, and of the other measurements: fsync, slow-disk, startup, import. */
  readonly only: ReadonlySet<string>;
  /** The file for a picture of the costs, as SVG. */
  readonly picture: string | undefined;
}

const extras = ['fsync', 'slow-disk', 'startup', 'import'] as const;
const names = [...scenarios.map(({ name }) => name), ...extras];

export const help = `Usage: npm run bench -- [OPTIONS]

Measures the service beside a bare node:http, a bare Bun.serve and, where it is present with its packages, the
reference service in one run: CPU µs per request and requests/s, as tables in Markdown. Prepared databases are kept in
the system's folder for temporary files.

  --sizes N,…        products in the database (10000,50000,1000000)
  --databases NAME,… ${databaseKinds.join(', ')} (both); BENCH_DATABASE_URL names a PostgreSQL of your own
  --rounds N         measured rounds (7)
  --milliseconds N   length of one measurement (800)
  --only NAME,…      ${names.join(', ')}
  --picture FILE     draws what requests cost beside the reference service and the limits, as SVG
  --quick            a smoke run, small and short, which checks that everything works
  --help`;

/** @throws Error that says what is wrong with the command line */
export function readOptions(args: string[]): Options | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      sizes: { type: 'string' },
      databases: { type: 'string' },
      rounds: { type: 'string' },
      milliseconds: { type: 'string' },
      only: { type: 'string' },
      picture: { type: 'string' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  return {
    quick,
    sizes: listed(values.sizes ?? (quick ? '2000' : '10000,50000,1000000')).map(text =>
      positive('sizes', text),
    ),
    databases: listed(values.databases ?? databaseKinds.join()).map(name =>
      oneOf('databases', name, databaseKinds),
    ),
    rounds: positive('rounds', values.rounds ?? (quick ? '1' : '7')),
    milliseconds: positive('milliseconds', values.milliseconds ?? (quick ? '50' : '800')),
    picture: values.picture,
    only: new Set(listed(values.only ?? names.join()).map(name => oneOf('only', name, names))),
  };
}

function listed(text: string): string[] {
  return text.split(',').filter(part => part !== '');
}

function positive(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${option}: ${text} is not a positive number`);
  return Number(text);
}

function oneOf<Name extends string>(option: string, name: string, known: readonly Name[]): Name {
  const found = known.find(candidate => candidate === name);
  if (found === undefined) throw new Error(`--${option}: ${name} is not one of ${known.join(', ')}`);
  return found;
}
