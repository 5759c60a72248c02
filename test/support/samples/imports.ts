/** Imports files while a service runs on the same database, and reads what the service shows of them. */
import { createPlace, databaseOf, type Ended, ndjsonOf, type Place } from '../../cli/program.ts';
import { call, type Received } from '../http/http.ts';
import { type DatabaseKind, startTestService, type TestService } from '../service/service.ts';

export type Records = readonly Readonly<Record<string, unknown>>[];

export interface Imports extends AsyncDisposable {
  readonly place: Place;
  readonly service: TestService;
  /** Imports records as NDJSON, or the text of a CSV. */
  run(content: Records | string, ...options: readonly string[]): Promise<Ended>;
  /** Imports like `run`, and expects all records to be accepted. */
  take(content: Records | string, ...options: readonly string[]): Promise<void>;
  /** Exports all products. @returns the path of the file */
  exported(name: string): Promise<string>;
  send(method: string, path: string, body?: object): Promise<Received>;
  /** The product with this SKU, with its variants by size, or undefined. */
  shown(sku: string): Promise<ReturnType<typeof JSON.parse>>;
}

export async function startImports(kind: DatabaseKind): Promise<Imports> {
  const place = await createPlace(kind);
  const service = await startTestService(kind, databaseOf(place));
  const send = (method: string, path: string, body?: object) =>
    call(service, { method, path, as: 'admin', ...(body === undefined ? {} : { body }) });
  const run: Imports['run'] = (content, ...options) => {
    const file =
      typeof content === 'string'
        ? place.file('in.csv', content)
        : place.file('in.ndjson', ndjsonOf(content));
    return place.runHere(['import', file, ...options]);
  };
  return {
    place,
    service,
    run,
    async take(content, ...options) {
      const { status, out, err } = await run(content, ...options);
      if (status !== 0) throw new Error(`an import ended with ${status}: ${out}${err}`);
    },
    async exported(name) {
      const file = place.file(name, '');
      const { status, err } = await place.runHere(['export', '--output', file]);
      if (status !== 0) throw new Error(`an export ended with ${status}: ${err}`);
      return file;
    },
    send,
    async shown(sku) {
      const [product] = (await send('GET', `/v1/products?sku=${encodeURIComponent(sku)}`)).body.data;
      if (product === undefined) return undefined;
      const { body } = await send('GET', `/v1/products/${product.id}/variants?limit=100`);
      const sizes = body.data.map((one: { options: { Size: string } }) => [one.options.Size, one]);
      return { ...product, variants: Object.fromEntries(sizes) };
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      place.remove();
    },
  };
}
