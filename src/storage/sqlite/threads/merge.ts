/**
 * Puts pieces of the search index together beside the thread that serves. Each commit adds a piece, and FTS5 merges pieces
 * within the statement that adds one too many: of a large index for hundreds of milliseconds, in which no request would be
 * served. So a thread with a connection of its own merges a few pages at a time, between two transactions of the writer,
 * which only adds pieces. Of a small index merging takes no time, and FTS5 does it as it usually does.
 */
import { Worker } from 'node:worker_threads';
import type { Connected } from '../connected.ts';

/** Commits that add a piece, from which on there may be something to merge: FTS5 merges four of one size. */
const fewPieces = 4;
/** Bytes of a database whose index is merged by the thread. */
const largeFile = 16 * 1024 * 1024;
/** Milliseconds after which the next pages are merged where nothing is written meanwhile. */
const restMs = 5;

export interface Merges {
  /** To be called, and waited for, before each write transaction: only one connection writes at a time. */
  before(): Promise<void> | undefined;
  /** To be called after each commit. @param isIndexed whether documents of the search index have been written */
  after(isIndexed: boolean): void;
  /** Ends the thread and its connection. */
  close(): Promise<void>;
}

/**
 * @param file the database
 * @param least bytes of a database that is large
 */
export function createMerges(writer: Connected, file: string, least = largeFile): Merges {
  const { connection } = writer;
  const pages = Math.ceil(least / Number(connection.prepare('PRAGMA page_size').values()[0]?.[0]));
  const countPages = connection.prepare('PRAGMA page_count');
  let thread: Worker | undefined;
  /** Pages are being merged. */
  let merging: PromiseWithResolvers<void> | undefined;
  let pieces = 0;
  let isWriting = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  const settle = (left: number): void => {
    pieces = left;
    merging?.resolve();
    merging = undefined;
  };
  const beginUnlessWriting = (): void => {
    if (!isWriting) begin();
  };
  function start(): Worker {
    const made = new Worker(new URL('./merge-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', (hasMore: boolean) => {
      settle(hasMore ? fewPieces : 0);
      if (hasMore) rest = setTimeout(beginUnlessWriting, restMs);
      rest?.unref();
    });
    made.on('error', () => {
      // FTS5 merges by itself what is too much. The next pieces start another thread.
      thread = undefined;
      settle(0);
    });
    return made;
  }
  function begin(): void {
    clearTimeout(rest);
    merging = Promise.withResolvers();
    thread ??= start();
    thread.postMessage('merge');
  }
  const isLarge = (): boolean => Number(countPages.values()[0]?.[0]) >= pages;

  return {
    before() {
      isWriting = true;
      return merging?.promise;
    },
    after(isIndexed) {
      isWriting = false;
      if (isIndexed) pieces += 1;
      if (pieces >= fewPieces && merging === undefined && isLarge()) begin();
    },
    async close() {
      isWriting = true;
      clearTimeout(rest);
      await merging?.promise;
      countPages.finalize();
      if (thread === undefined) return;
      const ended = Promise.withResolvers<void>();
      thread.once('exit', () => ended.resolve());
      thread.postMessage('close');
      await ended.promise;
    },
  };
}
