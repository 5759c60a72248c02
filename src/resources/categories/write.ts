/** The statements of categories, and the creation of a category with its event. */
import { type RawBuilder, sql } from 'kysely';
import { type Cause, createChangeBuilder, type Outbox } from '../../events/outbox.ts';
import { getPathsBelow, separator, toSlug } from '../../storage/categories/names.ts';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import { prepareQuery } from '../../storage/prepared.ts';
import { createTableRows } from '../../storage/table-rows.ts';
import { takeTurn } from '../../turns/index.ts';
import { type CategoryImage, categoryColumns, type StoredCategory, toCategory } from './row.ts';
import { type CategoryFields, lastPosition } from './schema.ts';

/** The number of categories that one statement moves: some milliseconds of work. */
const movedAtOnce = 250;

/** Writes categories and their events; the caller has checked their place in the tree. */
export function createCategoryWriter(database: Database, outbox: Outbox) {
  const statements = buildCategoryStatements(database);
  const rows = createTableRows<StoredCategory>(database, 'categories', categoryColumns);

  const changeOf = createChangeBuilder<StoredCategory>('category', row => JSON.stringify(toCategory(row)));
  const record = (
    session: Transaction,
    action: string,
    before: StoredCategory | undefined,
    after: StoredCategory | undefined,
    cause: Cause,
  ) => outbox.record(session, changeOf(action, before, after), cause);

  return {
    ...statements,
    find: rows.find,
    update: rows.update,
    remove: rows.remove,
    record,
    /** Creates a category below `parent`, which must have no other child with this name. */
    async create(
      session: Transaction,
      parent: StoredCategory | undefined,
      fields: Omit<CategoryFields, 'parentId' | 'imageId'> & CategoryImage,
      cause: Cause,
    ): Promise<StoredCategory> {
      const { name, description, image_id, image_product_id, image_url } = fields;
      const parentId = parent?.id ?? null;
      const values = {
        parent_id: parentId,
        name,
        slug: fields.slug ?? (await statements.freeSlug(session, toSlug(name))),
        path: parent === undefined ? name : `${parent.path}${separator}${name}`,
        depth: (parent?.depth ?? 0) + 1,
        description,
        position:
          fields.position ?? Math.min(lastPosition, (await statements.lastPosition(session, parentId)) + 1),
        ...{ image_id, image_product_id, image_url },
        created_at: cause.at,
        updated_at: cause.at,
        path_at: 0,
      };
      const id = await rows.insert(session, values);
      const row = { id, ...values };
      await record(session, 'created', undefined, row, cause);
      return row;
    },
  };
}

function buildCategoryStatements({ build }: Pick<Database, 'build'>) {
  const names = sql.join(['id', ...categoryColumns].map(name => sql.ref(name)));
  const readNumber = async (session: Session, query: RawBuilder<{ number: number | null }>) =>
    (await session.first(query.compile(build)))?.number ?? undefined;
  const bySlug = prepareQuery<{ slug: string }, { id: number }>(
    build,
    ({ slug }) => sql`select id from categories where slug = ${slug}`,
  );

  return {
    byPath: prepareQuery<{ path: string }, StoredCategory>(
      build,
      ({ path }) => sql`select ${names} from categories where path = ${path}`,
    ),
    /** The categories shown with an image of a product. */
    ofImagesOf: prepareQuery<{ productId: number }, StoredCategory>(
      build,
      ({ productId }) => sql`select ${names} from categories
        where image_product_id = ${productId} order by id`,
    ),
    /** Updates the paths of all descendants of a category. Its new path must not lie below the former one. */
    async move(session: Transaction, before: StoredCategory, after: StoredCategory) {
      const { low, high } = getPathsBelow(before.path);
      // In characters, as both databases count them.
      const kept = [...before.path].length + 1;
      const next = sql`select id from categories where path >= ${low} and path < ${high} limit ${sql.lit(movedAtOnce)}`;
      const move = sql`update categories set path = ${after.path} || substr(path, ${sql.lit(kept)}),
        depth = depth + ${sql.lit(after.depth - before.depth)}, path_at = ${after.path_at}
        where id in (${next})`.compile(build);
      while ((await session.run(move)) === movedAtOnce) await takeTurn();
    },
    /** The number of levels of a category and its descendants, and the bytes of their longest path. */
    async extent(session: Session, { path, depth }: StoredCategory) {
      const { low, high } = getPathsBelow(path);
      const query = sql<{ depth: number | null; bytes: number | null }>`select max(depth) as depth,
        max(octet_length(path)) as bytes from categories where path >= ${low} and path < ${high}`;
      const below = await session.first(query.compile(build));
      return { levels: (below?.depth ?? depth) - depth + 1, bytesBelow: below?.bytes ?? 0 };
    },
    async lastPosition(session: Session, parentId: number | null) {
      const siblings = parentId === null ? sql`parent_id is null` : sql`parent_id = ${parentId}`;
      const query = sql<{ number: number | null }>`select position as number from categories
        where ${siblings} order by position desc, id desc limit 1`;
      return (await readNumber(session, query)) ?? -1;
    },
    async children(session: Session, id: number) {
      const query = sql<{ number: number }>`select cast(count(*) as integer) as number from categories
        where parent_id = ${id}`;
      return (await readNumber(session, query)) ?? 0;
    },
    /** The slug, or the slug with a free number after it: of many equal names, few numbers are looked up. */
    async freeSlug(session: Session, slug: string): Promise<string> {
      const toNumbered = (number: number) => (number === 1 ? slug : `${slug}-${number}`);
      const isTaken = async (number: number) =>
        (await session.first(bySlug({ slug: toNumbered(number) }))) !== undefined;
      let [taken, free] = [0, 1];
      while (await isTaken(free)) [taken, free] = [free, free * 2];
      while (free - taken > 1) {
        const middle = Math.floor((taken + free) / 2);
        if (await isTaken(middle)) taken = middle;
        else free = middle;
      }
      return toNumbered(free);
    },
  };
}
