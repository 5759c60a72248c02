/** What documents are scored by, kept of those that were scored lately: splitting their texts costs most of a search. */
import { LRUCache } from 'lru-cache';
import { slices } from '../../../slices.ts';
import { bytesOf } from '../../../storage/changes/rows.ts';
import type { Database, Session } from '../../../storage/database.ts';
import { changeReader, type documentReader } from '../sources.ts';
import { type Features, featuresOf } from './features.ts';
import type { Facts } from './score.ts';

export interface Scorable extends Facts {
  readonly features: Features;
}

interface Known {
  readonly changedAt: number;
  readonly scorable: Scorable;
}

/** Bytes of features at most. */
const knownSize = 48 * 1024 * 1024;
/** What a document takes besides its words. */
const knownBytes = 600;

const sizeOf = ({ scorable }: Known): number =>
  scorable.features.fields.reduce((sum, { words }) => sum + bytesOf(words), knownBytes);

/** @returns what gives the features of documents by their positions, those that are gone left out */
export function scorableReader(
  database: Pick<Database, 'build'>,
  documentsOf: ReturnType<typeof documentReader>,
) {
  const changesOf = changeReader(database);
  const known = new LRUCache<number, Known>({ maxSize: knownSize, sizeCalculation: sizeOf });

  return async (session: Session, positions: readonly number[]): Promise<ReadonlyMap<number, Scorable>> => {
    const changes = await changesOf(session, positions);
    const found = new Map<number, Scorable>();
    const absent: number[] = [];
    for (const position of positions) {
      const one = known.get(position);
      if (one !== undefined && one.changedAt === changes.get(position)) found.set(position, one.scorable);
      else absent.push(position);
    }
    const { turn } = slices();
    for (const [position, document] of await documentsOf(session, absent)) {
      await turn();
      const { rating, available } = document;
      const scorable = { features: featuresOf(document), rating, available };
      const changedAt = changes.get(position);
      if (changedAt !== undefined) known.set(position, { changedAt, scorable });
      found.set(position, scorable);
    }
    return found;
  };
}
