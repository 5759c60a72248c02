/**
 * Merges pieces of the search index beside the thread that serves. Each statement that writes documents adds a piece, and
 * FTS5 merges pieces within the statement that adds one too many. In a large index that takes hundreds of milliseconds, in
 * which no request would be served. So a thread with a connection of its own merges some pages at a time, between two
 * transactions of the writer, which only adds pieces. In a small index merging takes no time, and is left to FTS5.
 */
import { Worker } from 'node:worker_threads';
import type { Connected } from '../connected.ts';

/** Bytes of a database whose index is merged by the thread. */
const largeFile = 16 * 1024 * 1024;
/** FTS5 merges pieces when there are four of one size. */
const fewPieces = 4;
/** Steps that a piece takes, the larger ones that it becomes a part of included. */
const stepsOfPiece = 4;
/** Steps that may be left to be done; with more of them writing waits. */
const mostSteps = 256;
/** Milliseconds between two steps where nothing is written meanwhile: other processes may be waiting to write. */
const restMs = 1;

export interface Merges {
  /** To be called, and waited for, before each write transaction: only one connection writes at a time. */
  before(): Promise<void> | undefined;
  /** To be called after each commit. @param added pieces, at most */
  after(added: number): void;
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
  /** The step that is being done. */
  let step: PromiseWithResolvers<void> | undefined;
  /** Steps that are to be done, at most. */
  let left = 0;
  let isWriting = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  function settle(stepsLeft: number): void {
    left = stepsLeft;
    step?.resolve();
    step = undefined;
  }
  function start(): Worker {
    const made = new Worker(new URL('./merge-worker.ts', import.meta.url), { workerData: file });
    made.unref();
    made.on('message', (hasMore: boolean) => {
      settle(hasMore ? Math.max(1, left - 1) : 0);
      if (!hasMore) return;
      rest = setTimeout(() => {
        if (!isWriting) begin();
      }, restMs);
      rest.unref();
    });
    made.on('error', () => {
      // Until the next pieces start another thread, FTS5 merges by itself what is too much.
      thread = undefined;
      settle(0);
    });
    return made;
  }
  function begin(): void {
    if (step !== undefined) return;
    clearTimeout(rest);
    step = Promise.withResolvers();
    thread ??= start();
    thread.postMessage('merge');
  }
  /** Waits for the step that is being done, and as long as too many are left. */
  async function catchUp(): Promise<void> {
    for (;;) {
      await step?.promise;
      if (left <= mostSteps) return;
      begin();
    }
  }
  const isLarge = (): boolean => Number(countPages.values()[0]?.[0]) >= pages;

  return {
    before() {
      isWriting = true;
      return step === undefined && left <= mostSteps ? undefined : catchUp();
    },
    after(added) {
      isWriting = false;
      left += added * stepsOfPiece;
      if (left < fewPieces * stepsOfPiece) return;
      if (isLarge()) begin();
      else left = 0;
    },
    async close() {
      isWriting = true;
      clearTimeout(rest);
      await step?.promise;
      countPages.finalize();
      if (thread === undefined) return;
      const ended = Promise.withResolvers<void>();
      thread.once('exit', () => ended.resolve());
      thread.postMessage('close');
      await ended.promise;
    },
  };
}
