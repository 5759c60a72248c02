/** Uniqueness of skus, and of combinations of options within a product, when several variants change together. */
import { isDeepStrictEqual } from 'node:util';
import type { Database, Session, Transaction } from '../../storage/database.ts';
import {
  type StoredVariant,
  toKeptVariant,
  toVariantFields,
  toVariantRow,
  type VariantRow,
  variantOf,
} from './row.ts';
import { createCombinationTakenError } from './rules.ts';
import type { Variant, VariantFields } from './schema.ts';
import type { buildVariantStatements } from './statements.ts';

/** A change of a variant, with the row to write. */
export interface WrittenVariant {
  readonly before: StoredVariant;
  readonly old: Variant;
  readonly fields: VariantFields;
  readonly row: VariantRow;
}

type Statements = Pick<ReturnType<typeof buildVariantStatements>, 'sameCombination'>;

const none: ReadonlySet<number> = new Set();

export function createTakenVariants({ build }: Pick<Database, 'build'>, { sameCombination }: Statements) {
  /**
   * Refuses a combination that another variant has. The locked product keeps others from changing its variants.
   * @param changing ids of variants that the same update changes, whose combinations are checked separately
   * @throws HttpError 409
   */
  async function refuseTaken(session: Session, row: VariantRow, changing = none): Promise<void> {
    const { product_id: productId, combination } = row;
    const other = await session.first(sameCombination({ productId, combination }));
    if (other === undefined || changing.has(other.id)) return;
    throw createCombinationTakenError(other.id, variantOf({ id: other.id, document: row.document }).options);
  }

  /**
   * Prepares changes of one product's variants, which may exchange skus and combinations. A variant first gives up a
   * value that an earlier one in the list takes from it.
   * @throws HttpError 409 for a combination that another variant keeps
   */
  async function makeRoom(session: Transaction, all: readonly WrittenVariant[]): Promise<void> {
    const moved = all.filter(isMoved);
    if (moved.length === 0) return;
    refuseSame(all);
    const changing = new Set(all.map(({ before }) => before.id));
    for (const { row } of moved) await refuseTaken(session, row, changing);
    for (const id of findGivenUpFirst(moved)) {
      // Unique, since no combination is as short as an id.
      const free = { sku: null, combination: String(id) };
      await session.run(build.updateTable('product_variants').set(free).where('id', '=', id).compile());
    }
  }

  return { refuseTaken, makeRoom };
}

const isMoved = ({ old, fields }: WrittenVariant): boolean =>
  old.sku !== fields.sku || !isDeepStrictEqual(old.options, fields.options);

function refuseSame(all: readonly WrittenVariant[]): void {
  const had = new Map<string, number>();
  for (const { before, fields, row } of all) {
    const other = had.get(row.combination);
    if (other !== undefined) throw createCombinationTakenError(other, fields.options);
    had.set(row.combination, before.id);
  }
}

/** The variants whose current values are taken by variants written before them. */
function findGivenUpFirst(moved: readonly WrittenVariant[]): number[] {
  const taken = new Set<string>();
  const first: number[] = [];
  for (const { before, old, row } of moved) {
    const has = getUniqueKeys(toVariantRow(toVariantFields(old), before.updated_at, toKeptVariant(old)));
    if (has.some(key => taken.has(key))) first.push(before.id);
    for (const key of getUniqueKeys(row)) taken.add(key);
  }
  return first;
}

/** No sku contains U+0000, so the keys are distinct. */
const getUniqueKeys = ({ sku, combination }: VariantRow): string[] =>
  sku === null ? [combination] : [combination, `\0${sku}`];
