/** The sample catalog of a first start works with the document's examples, sent as a new user sends them in /docs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { contractAt, type Operation } from '../../support/http/contract.ts';
import { bodyOf } from '../../support/http/walk.ts';
import { hasPostgres } from '../../support/service/postgres.ts';
import { signIn } from '../../support/service/service.ts';
import { createPlace, type Place, type Running, waitFor } from '../program.ts';

const account = { ADMIN_EMAIL: 'admin@catalog.example', ADMIN_PASSWORD: 'correct horse battery' };

/** In this order, because later operations may use what earlier ones create. */
const writes: readonly (readonly [operationId: string, status: number])[] = [
  ['createProduct', 201],
  ['createVariant', 201],
  ['replaceVariant', 200],
  ['patchVariant', 200],
  ['createCategory', 201],
  ['createAttribute', 201],
  ['createReview', 201],
  ['createProductImage', 201],
  ['createUser', 201],
  ['createOrder', 201],
  ['adjustStock', 200],
  ['replaceProduct', 200],
  ['patchProduct', 200],
  ['bulkPatchProducts', 200],
  ['replaceCategory', 200],
  ['patchCategory', 200],
  ['replaceUser', 200],
  ['patchUser', 200],
];

describe('the examples of the OpenAPI document, in a sample catalog', () => {
  let place: Place;
  let child: Running;
  let url: string;
  let token: string;
  let operations: ReadonlyMap<string, Operation>;

  beforeAll(async () => {
    place = await createPlace('sqlite', { HOST: '127.0.0.1', ...account });
    child = place.start(['serve', '--sample', '--port', '0']);
    url = (await waitFor(child.stderr, /ready at (\S+)/))[1] ?? '';
    token = await signIn(url, account.ADMIN_EMAIL, account.ADMIN_PASSWORD);
    const contract = await contractAt(url);
    operations = new Map(contract.operations.map(operation => [operation.operationId, operation]));
  });
  afterAll(async () => {
    child.kill('SIGTERM');
    await child.exited;
    place.remove();
  });

  test('succeed, one after the other', async () => {
    const statuses: [string, number][] = [];
    for (const [id] of writes) {
      const operation = operations.get(id);
      if (operation === undefined) throw new Error(`the document has no operation ${id}`);
      statuses.push([id, await send(operation)]);
    }
    expect(statuses).toEqual(writes.map(([id, status]) => [id, status]));
  });

  async function send(operation: Operation): Promise<number> {
    const { method, path, parameters } = operation;
    const values = new Map(parameters.map(({ name, example }) => [name, `${example}`]));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? ''));
    const response = await fetch(url + filled, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(operation)),
    });
    return response.status;
  }
});

test.skipIf(!hasPostgres)('with DATABASE_URL a log line says that --sample is ignored', async () => {
  const place = await createPlace('postgresql', { HOST: '127.0.0.1', ...account });
  const child = place.start(['serve', '--sample', '--port', '0']);
  const [line] = await waitFor(child.stdout, /^.*--sample.*$/m);
  expect(line).toContain('--sample is ignored: the sample catalog is only for an embedded database');
  child.kill('SIGTERM');
  await child.exited;
  place.remove();
});
