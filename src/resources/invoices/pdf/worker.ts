/** The thread that draws invoices: see index.ts. It ends on `close`. */
import { parentPort } from 'node:worker_threads';
import { getErrorMessage } from '../../../error-text.ts';
import { createInvoiceDrawer } from './document.ts';
import type { DrawRequest, DrawResult } from './index.ts';

const drawInvoice = createInvoiceDrawer();

async function draw({ id, invoice }: DrawRequest): Promise<DrawResult> {
  try {
    return { id, bytes: await drawInvoice(invoice) };
  } catch (error) {
    return { id, message: getErrorMessage(error) };
  }
}

parentPort?.on('message', (message: DrawRequest | 'close') => {
  if (message === 'close') parentPort?.close();
  else void draw(message).then(result => parentPort?.postMessage(result));
});
