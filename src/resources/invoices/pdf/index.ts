/**
 * Invoices as PDF. A worker thread draws them, since reading the fonts of many languages and setting a long invoice
 * take a while. The last PDFs are cached, since an invoice never changes.
 */
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { HttpError } from '../../../http/errors.ts';
import { requireSpareFiles } from '../../../open-files.ts';
import type { StoredInvoice } from '../store.ts';
import { type InvoiceContent, toContent } from './content.ts';

/** The messages to the thread and back. */
export interface DrawRequest {
  /** Identifies the drawing. */
  readonly id: string;
  readonly invoice: InvoiceContent;
}
export type DrawResult = { readonly id: string } & (
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly message: string }
);

const cachedBytes = 8 * 1024 * 1024;
/** The thread ends after being idle for this long, to release the memory of its fonts. */
const idleMs = 60_000;

export function createPdfs() {
  const cached = new LRUCache<string, Uint8Array<ArrayBuffer>>({
    maxSize: cachedBytes,
    sizeCalculation: bytes => bytes.byteLength,
  });
  const draw = createDrawingThread();
  return {
    async of(row: StoredInvoice): Promise<Uint8Array<ArrayBuffer>> {
      const id = computeDrawingId(row);
      const known = cached.get(id);
      if (known !== undefined) return known;
      const bytes = await draw({ id, invoice: toContent(row) });
      cached.set(id, bytes);
      return bytes;
    },
  };
}

/**
 * What is drawn, not just the id of the row: a database that was restored, or has lost commits in a failover, assigns
 * ids again, and the invoice of another customer must not be served from the cache.
 */
const computeDrawingId = ({ id, number, order_id, created_at, document }: StoredInvoice): string =>
  new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([id, number, order_id, created_at, document]))
    .digest('hex');

interface Drawing extends PromiseWithResolvers<Uint8Array<ArrayBuffer>> {
  /** The number of the invoice, for errors. */
  readonly number: DrawRequest['invoice']['number'];
}

/** @returns a function that draws an invoice; simultaneous requests for the same invoice share a drawing */
function createDrawingThread(): (request: DrawRequest) => Promise<Uint8Array<ArrayBuffer>> {
  let thread: Worker | undefined;
  let idle: Timer | undefined;
  const drawings = new Map<string, Drawing>();

  function end(): void {
    thread?.postMessage('close');
    thread = undefined;
  }

  function settle(result: DrawResult): void {
    const drawing = drawings.get(result.id);
    drawings.delete(result.id);
    if ('bytes' in result) drawing?.resolve(result.bytes);
    else drawing?.reject(new Error(`the PDF of invoice ${drawing.number}: ${result.message}`));
    if (drawings.size > 0) return;
    clearTimeout(idle);
    idle = setTimeout(end, idleMs);
    idle.unref();
  }

  /** @throws HttpError 503 when too few files can be opened */
  function start(): Worker {
    try {
      requireSpareFiles();
    } catch (error) {
      throw new HttpError('SERVICE_BUSY', { headers: { 'Retry-After': '2' }, cause: error });
    }
    const made = new Worker(new URL('./worker.ts', import.meta.url));
    made.unref();
    made.on('message', settle);
    made.on('error', (error: Error) => {
      // The next drawing starts a new thread.
      thread = undefined;
      for (const id of [...drawings.keys()])
        settle({ id, message: `the drawing thread ended: ${error.message}` });
    });
    return made;
  }

  return request => {
    const running = drawings.get(request.id);
    if (running !== undefined) return running.promise;
    clearTimeout(idle);
    thread ??= start();
    const drawing: Drawing = { ...Promise.withResolvers(), number: request.invoice.number };
    drawings.set(request.id, drawing);
    thread.postMessage(request);
    return drawing.promise;
  };
}
