/**
 * Locks the products that a transaction is about to change. They are locked in order of id, so that no two transactions
 * deadlock, and with the tree of categories shared, so that no paths change.
 */
import { sql } from 'kysely';
import { prepareByKeys } from '../../storage/batched-lookups.ts';
import { createCategoryTree } from '../../storage/categories/tree.ts';
import { type Database, type Lookup, maxId, type Session, type Transaction } from '../../storage/database.ts';
import { takeTurn } from '../../turns/index.ts';
import { splitIntoParts } from '../../turns/slices.ts';
import { buildLockedColumns, type LockedProduct } from './row.ts';

/** The limits of one statement, which blocks the event loop until it ends; a document may have a megabyte. */
const atOnce = { products: 50, bytes: 1_000_000 } as const;
/** The number of products that one statement measures without reading their documents. */
const measuredAtOnce = 101;

interface Size {
  readonly id: number;
  readonly bytes: number;
}

export function createProductLocks(database: Pick<Database, 'build' | 'dialect'>) {
  const { build, dialect } = database;
  const tree = createCategoryTree(database);
  const columns = buildLockedColumns(dialect);
  const prepare = <Row>(selected: typeof columns, end: typeof columns) =>
    prepareByKeys(size =>
      sql<Row>`select ${selected} from products where id in (${sql.join(new Array(size).fill(null))})
        order by id ${end}`.compile(build),
    );
  const forUpdate: Lookup<number, LockedProduct> = {
    statement: prepare<LockedProduct>(columns, dialect.forUpdate),
    keyOf: ({ id }) => id,
  };
  const sizesOf = prepare<Size>(sql`id, octet_length(document) as bytes`, sql``);

  async function measure(session: Session, ids: readonly number[]): Promise<Size[]> {
    const sizes: Size[] = [];
    for (const some of splitIntoParts(ids, measuredAtOnce)) sizes.push(...(await session.all(sizesOf(some))));
    return sizes;
  }

  return {
    /** Undefined if there is no such product. */
    async lock(session: Transaction, id: number): Promise<LockedProduct | undefined> {
      // Both at once: PostgreSQL receives them together, in this order.
      const [, row] = await Promise.all([tree.share(session), session.pick(forUpdate, id)]);
      return row;
    },
    /**
     * In order of id, without ids that do not exist.
     * @param measured called with the total bytes of the documents before any is read, to refuse too many
     */
    async lockMany(session: Session, ids: readonly number[], measured?: (bytes: number) => void) {
      // PostgreSQL refuses values beyond the range of its integers; no product has such an id.
      const possible = ids.filter(id => id >= 1 && id <= maxId).sort((a, b) => a - b);
      if (possible.length === 0) return [];
      await tree.share(session);
      const sizes = await measure(session, possible);
      measured?.(sizes.reduce((sum, { bytes }) => sum + bytes, 0));
      const rows: LockedProduct[] = [];
      for (const some of listParts(sizes)) {
        await takeTurn();
        rows.push(...(await session.all(forUpdate.statement(some))));
      }
      return rows;
    },
  };
}

/** The ids in groups that are read together. */
function* listParts(sizes: readonly Size[]): Generator<readonly number[]> {
  let part: number[] = [];
  let sum = 0;
  for (const { id, bytes } of sizes) {
    if (part.length > 0 && (part.length === atOnce.products || sum + bytes > atOnce.bytes)) {
      yield part;
      part = [];
      sum = 0;
    }
    part.push(id);
    sum += bytes;
  }
  if (part.length > 0) yield part;
}
