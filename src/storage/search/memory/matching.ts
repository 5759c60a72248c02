/** Finds the documents that match an expression in the sets of its terms. */
import { intersectRows, type RowSet } from '../../columns/rows.ts';
import {
  addToSet,
  countDocuments,
  createAscendingTest,
  type DocumentSet,
  getIdLimit,
  getIds,
} from './set.ts';

/** A choice of an expression: a document must be in all of these sets. */
export type ChoiceSets = readonly DocumentSet[];
/** A group of an expression: at least one of these choices must match. */
export type GroupSets = readonly ChoiceSets[];

const estimateChoiceSize = (choice: ChoiceSets): number => Math.min(...choice.map(countDocuments));
const estimateGroupSize = (group: GroupSets): number =>
  group.reduce((sum, choice) => sum + estimateChoiceSize(choice), 0);

/** More documents than this are not tested one by one. */
const fewDocuments = 4000;

/**
 * @returns the ids of the documents in which each group matches, ascending: as bits if they may be many. It may be one
 * of the given sets, and must not be changed.
 */
export function findMatchingDocuments(groups: readonly GroupSets[]): DocumentSet {
  const [smallest, ...others] = groups.toSorted(
    (one, other) => estimateGroupSize(one) - estimateGroupSize(other),
  );
  if (smallest === undefined) return { kind: 'list', ids: new Uint32Array() };
  const only = others.length === 0 ? findOnlySet(smallest) : undefined;
  if (only !== undefined) return only;
  if (estimateGroupSize(smallest) > fewDocuments) return { kind: 'bits', rows: findManyMatching(groups) };
  let found = findGroupIds(smallest);
  for (const group of others) found = found.filter(createGroupTest(group));
  return { kind: 'list', ids: Uint32Array.from(found) };
}

function findOnlySet([choice, another]: GroupSets): DocumentSet | undefined {
  const [set, other] = choice ?? [];
  return another === undefined && other === undefined ? set : undefined;
}

/** @returns a test of whether a document matches a group, for ids that never decrease */
export function createGroupTest(group: GroupSets): (id: number) => boolean {
  const only = findOnlySet(group);
  if (only !== undefined) return createAscendingTest(only);
  const choices = group.map(sets => sets.map(createAscendingTest));
  return id => choices.some(tests => tests.every(one => one(id)));
}

/** The ids of the documents that match a group: ascending, each once. */
function findGroupIds(group: GroupSets): readonly number[] {
  const ids: number[] = [];
  for (const choice of group) {
    const [first, ...others] = choice.toSorted((one, other) => countDocuments(one) - countDocuments(other));
    if (first === undefined) continue;
    const own = getIds(first);
    const tests = others.map(createAscendingTest);
    for (let index = 0; index < own.length; index++) {
      const id = own[index] ?? 0;
      if (tests.every(test => test(id))) ids.push(id);
    }
  }
  return group.length === 1 ? ids : [...new Set(ids)].sort((a, b) => a - b);
}

function findManyMatching(groups: readonly GroupSets[]): RowSet {
  const rows = groups.map(group => {
    const only = findOnlySet(group);
    if (only?.kind === 'bits') return only.rows;
    const sets = group.map(intersectChoice);
    const words = new Uint32Array((Math.max(0, ...sets.map(getIdLimit)) >>> 5) + 1);
    for (const set of sets) addToSet(words, set);
    return { words, count: 0 };
  });
  return (
    intersectRows(rows.length === 1 ? [...rows, ...rows] : rows) ?? { words: new Uint32Array(), count: 0 }
  );
}

const intersectChoice = (choice: ChoiceSets): DocumentSet =>
  findMatchingDocuments(choice.map(set => [[set]]));
