/**
 * What has changed while words are read into memory: split into its words in slices, and once for all that are read
 * meanwhile.
 */
import { takeTurn } from '../../../turns/index.ts';
import type { Change } from '../../changes/change.ts';

type Words = ReadonlySet<string>;

export interface ChangedWords {
  note(committed: readonly Change[]): void;
  forget(): void;
  /** Splits what has been noted. */
  splitAll(): Promise<void>;
  /** The words of a document that has been split. */
  of(document: string): Words | undefined;
}

/** @param most products; with more they are forgotten */
export function createChangedWords(
  split: (id: number, document: string) => Promise<Words>,
  most: number,
): ChangedWords {
  const noted = new Map<number, string | null>();
  const words = new Map<string, Words>();
  function forget(): void {
    noted.clear();
    words.clear();
  }
  return {
    note(committed) {
      for (const { id, document } of committed) noted.set(id, document);
      if (noted.size > most) forget();
    },
    forget,
    async splitAll() {
      for (const [id, document] of noted) {
        if (document === null || words.has(document)) continue;
        words.set(document, await split(id, document));
        await takeTurn();
      }
    },
    of: document => words.get(document),
  };
}
