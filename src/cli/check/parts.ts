/** All checks, in the order in which they run. */
import { sql } from 'kysely';
import type { Transaction } from '../../storage/database.ts';
import { formatQuantity } from '../terminal/index.ts';
import { createCategoriesCheck } from './categories.ts';
import type { Check, Storage } from './check.ts';
import { createContentChecks } from './content.ts';
import { createCounterChecks } from './counters.ts';
import { createSchemaChecks } from './schema.ts';
import { createSearchCheck } from './search.ts';
import { createReservationsCheck } from './stock.ts';
import { createVariantChecks } from './variants.ts';

export function createChecks(database: Storage): readonly Check[] {
  return [
    createIntegrityCheck(database),
    ...createSchemaChecks(database),
    createReferenceCheck(database),
    createCategoriesCheck(database),
    ...createCounterChecks(database),
    createReservationsCheck(database),
    ...createVariantChecks(database),
    ...createContentChecks(database),
    createSearchCheck(database),
  ];
}

function createIntegrityCheck({ build, dialect }: Storage): Check {
  const { rebuildIndexes, damage } = dialect.checks;
  // Damage other than to indexes makes this fail, or is still found afterwards.
  const repair = async (session: Transaction) => {
    for (const statement of rebuildIndexes) await session.run(statement.compile(build));
  };
  return {
    name: 'integrity',
    find: session => damage(session, build, false),
    ...(rebuildIndexes.length > 0 && { repair }),
  };
}

/** Finds rows that refer to missing rows: only damage, or changes by hand without checks, can make them. */
export function createReferenceCheck({ build, dialect }: Storage): Check {
  return {
    name: 'references',
    async find(session) {
      const lines: string[] = [];
      for (const { child, column, parent, target } of await session.all(
        dialect.checks.references.compile(build),
      )) {
        // A table may refer to itself.
        const [own, other] = [sql.id(child, column), sql.id('referred', target)];
        const query = sql<{ total: number; first: string }>`select cast(count(*) as integer) as total,
            cast(min(${own}) as text) as first from ${sql.id(child)}
          where ${own} is not null and not exists (select 1 from ${sql.id(parent)} as referred where ${other} = ${own})`;
        const { total = 0, first } = (await session.first(query.compile(build))) ?? {};
        if (total > 0)
          lines.push(
            `${formatQuantity(total, 'row')} of ${child} ${total === 1 ? 'refers' : 'refer'} by ${column} to ${parent} that do not exist, such as ${first}`,
          );
      }
      return lines;
    },
  };
}
