/** The existing state that a plan is made against: the products that a batch names, and the owners of its skus. */
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Database, Session } from '../../../storage/database.ts';
import type { Row } from '../../../storage/tables.ts';
import { splitIntoParts } from '../../../turns/slices.ts';
import type { VariantStore } from '../../variants/store.ts';
import { buildLockedColumns, type LockedProduct } from '../row.ts';
import { type Entry, toEntry } from './entry.ts';
import { toIdentityKey } from './identity.ts';
import { getKeys, isNamedByVariants, type Owned } from './matching.ts';
import type { PreparedRecord } from './prepared.ts';

/** Skus, external ids or ids per lookup; a shorter list is padded, so that only one statement is prepared. */
const lookupSize = 500;

/** A product, as read for a plan. */
interface Found extends LockedProduct {
  readonly variant_count: number;
}

/** What identifies a product in an export. */
type Created = Pick<Row<'products'>, 'id' | 'created_at'>;

interface Owner {
  readonly sku: string;
  readonly id: number;
}

/** Reads the existing products; in the mode `lock`, also locks them so that the plan can be applied. */
export function createExistingProductsReader(
  { build, dialect }: Database,
  variants: Pick<VariantStore, 'all'>,
) {
  const anyProduct = sql<{ id: number }>`select id from products limit 1`.compile(build);
  const someVariant = sql<{ id: number }>`select id from product_variants limit 1`.compile(build);
  const placeholders = sql.join(Array.from({ length: lookupSize }, () => null));
  const productsWithSku = sql<Owner>`select sku, id from products where sku in (${placeholders})`.compile(
    build,
  );
  const variantsWithSku = sql<Owner>`select sku, product_id as id from product_variants
    where sku in (${placeholders})`.compile(build);
  const bySku = buildLookups(sql`sku in (${placeholders})`);
  const byExternalId = buildLookups(sql`external_id in (${placeholders})`);
  const byVariants = buildLookups(
    sql`id in (select product_id from product_variants where sku in (${placeholders}))`,
  );

  const byId = buildLookups(sql`id in (${placeholders})`);
  const createdAt = sql<Created>`select id, created_at from products where id in (${placeholders})`.compile(
    build,
  );

  /** Statements that read, or read and lock, the products that match many values. */
  function buildLookups(condition: RawBuilder<unknown>) {
    const buildLookup = (lock: boolean) =>
      sql<Found>`select ${buildLockedColumns(dialect)}, variant_count from products
        where ${condition} order by id ${lock ? dialect.forUpdate : sql``}`.compile(build);
    return { read: buildLookup(false), lock: buildLookup(true) };
  }

  async function readExisting(session: Session, records: readonly PreparedRecord[], mode: 'lock' | 'read') {
    const entries = new Map<string, Entry>();
    const known = new Map<number, Entry>();
    if ((await session.first(anyProduct)) === undefined) return { entries, known };
    const find = async (query: CompiledQuery<Found>, values: ReadonlySet<string | number>) => {
      for (const parameters of splitIntoLookups(values)) {
        for (const row of await session.all<Found>({ ...query, parameters })) {
          const entry = known.get(row.id) ?? (await readEntry(session, row));
          known.set(row.id, entry);
          for (const key of getKeys(entry)) entries.set(key, entry);
        }
      }
    };
    const [skus, externalIds, ofVariants] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (const record of records) {
      const { row, variantSkus } = record;
      if (row.sku !== null) skus.add(row.sku);
      if (row.external_id !== null) externalIds.add(row.external_id);
      if (isNamedByVariants(record)) for (const sku of variantSkus) ofVariants.add(sku);
    }
    await find(bySku[mode], skus);
    await find(byExternalId[mode], externalIds);
    await find(byVariants[mode], ofVariants);
    const identified = await findIdentified(session, records);
    await find(byId[mode], new Set(identified.values()));
    for (const [key, id] of identified) {
      const entry = known.get(id);
      if (entry !== undefined) entries.set(key, entry);
    }
    return { entries, known };
  }

  /**
   * The ids of the products that have the identity of a record, by the key of that identity. They are found without a
   * lock, so that a file of another catalog does not lock what it does not change: the creation time never changes.
   */
  async function findIdentified(session: Session, records: readonly PreparedRecord[]) {
    const ids = new Set(records.flatMap(({ identity }) => identity?.id ?? []));
    const keys = new Set(
      records.flatMap(({ identity }) => (identity === undefined ? [] : toIdentityKey(identity))),
    );
    const found = new Map<string, number>();
    for (const parameters of splitIntoLookups(ids)) {
      for (const { id, created_at } of await session.all<Created>({ ...createdAt, parameters })) {
        const key = toIdentityKey({ id, createdAt: new Date(created_at).toISOString() });
        if (keys.has(key)) found.set(key, id);
      }
    }
    return found;
  }

  /** A transaction that locks a product thereby also locks its variants. */
  async function readEntry(session: Session, row: Found): Promise<Entry> {
    return toEntry(row, row.variant_count === 0 ? [] : await variants.all(session, row.id));
  }

  /** Products whose skus the records give to variants, and variants whose skus they give to products. */
  async function readSkuOwners(session: Session, records: readonly PreparedRecord[]) {
    const owners = new Map<string, { productId: number; isVariant: boolean }>();
    const skus = new Set<string>();
    const anyVariant = (await session.first(someVariant)) !== undefined;
    for (const { row, variantSkus } of records) {
      for (const sku of variantSkus) skus.add(sku);
      if (anyVariant && row.sku !== null) skus.add(row.sku);
    }
    for (const parameters of splitIntoLookups(skus)) {
      for (const { sku, id } of await session.all<Owner>({ ...productsWithSku, parameters }))
        owners.set(sku, { productId: id, isVariant: false });
      for (const { sku, id } of await session.all<Owner>({ ...variantsWithSku, parameters }))
        owners.set(sku, { productId: id, isVariant: true });
    }
    return owners;
  }

  return {
    async read(session: Session, records: readonly PreparedRecord[], mode: 'lock' | 'read'): Promise<Owned> {
      const others = new Set<number>();
      for (;;) {
        const { entries, known } = await readExisting(session, records, mode);
        const skuOwners = await readSkuOwners(session, records);
        const more = [...skuOwners.values()].filter(
          ({ productId }) => !known.has(productId) && !others.has(productId),
        );
        if (more.length === 0) return { byKey: entries, skuOwners };
        // Products that another process may have created since the first statement: a record may identify one.
        for (const { productId } of more) others.add(productId);
      }
    },

    async findIds(session: Session, skus: Iterable<string>): Promise<number[]> {
      const ids: number[] = [];
      for (const parameters of splitIntoLookups(new Set(skus)))
        for (const { id } of await session.all<Owner>({ ...productsWithSku, parameters })) ids.push(id);
      return ids;
    },
  };
}

/** Sorted, so that two imports lock the same products in the same order. */
function* splitIntoLookups<Value extends string | number>(values: ReadonlySet<Value>): Generator<Value[]> {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
  const [first] = sorted;
  if (first === undefined) return;
  for (const parameters of splitIntoParts(sorted, lookupSize)) {
    while (parameters.length < lookupSize) parameters.push(first);
    yield parameters;
  }
}
