/** Messages that quote the input show no part of a credential, wherever the quotation is cut. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { addKey } from '../../support/data/people.ts';
import { type Call, call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

/** Lengths of the text before a credential: with some of them, the cut falls within the credential. */
const lengths = Array.from({ length: 12 }, (_, index) => index * 10 + 4);
/** The length of a credential's part, beginning with the prefix that marks it as a credential. */
const partLength = 6;

describeOnDatabases('errors quote no part of credentials on %s', kind => {
  let service: TestService;
  let secrets: readonly string[];
  let productId: number;
  beforeAll(async () => {
    service = await startTestService(kind);
    const key = (await addKey(service, 'products:read'))['X-API-Key'] ?? '';
    secrets = [key, service.tokens.user];
    productId = (await addProduct(service)).id;
    const definition = { key: 'quoted_size', label: 'Size', type: 'choice', choices: ['S', 'M'] };
    const made = await call(service, {
      method: 'POST',
      path: '/v1/attributes',
      as: 'admin',
      body: definition,
    });
    expect(made.status).toBe(201);
  });
  afterAll(() => service.stop());

  async function expectNoPart(status: number, request: Call): Promise<void> {
    const response = await call(service, { as: 'admin', ...request });
    expect([response.status, response.body.message]).toEqual([status, expect.stringMatching(/[ab]{4}/)]);
    for (const secret of secrets) expect(response.text).not.toContain(secret.slice(0, partLength));
  }

  test('in names of facets', async () => {
    for (const secret of secrets)
      for (const length of lengths)
        for (const name of [`${'a'.repeat(length)}.${secret}`, `attr.${'b'.repeat(length)}\n${secret}`])
          await expectNoPart(400, { path: `/v1/products?facets=${encodeURIComponent(name)}` });
  });

  test('in pointers of a patch', async () => {
    const patch = (path: string, strict: boolean): Call => ({
      method: 'PATCH',
      path: `/v1/products/${productId}`,
      headers: {
        'Content-Type': 'application/json-patch+json',
        ...(strict ? { Prefer: 'handling=strict' } : {}),
      },
      body: [{ op: 'remove', path }],
    });
    for (const secret of secrets)
      for (const length of lengths)
        for (const pointer of [`/${'a'.repeat(length)}.${secret}`, `/${'b'.repeat(length)}\n${secret}`]) {
          await expectNoPart(400, patch(pointer, true));
          await expectNoPart(409, patch(pointer, false));
        }
  });

  test('in names with a credential longer than the examined part', async () => {
    const claims = 'x'.repeat(5000);
    for (const length of lengths)
      for (const secret of [
        `eyJ${claims}.${claims}.${claims}`,
        `%65yJ${claims}.${claims}.${claims}`,
        // Also cut within a percent-encoded character.
        `%65%79%4a${'%78'.repeat(5000)}`,
      ]) {
        const response = await call(service, {
          method: 'POST',
          path: '/v1/products',
          as: 'admin',
          headers: { Prefer: 'handling=strict' },
          body: { [`${'a'.repeat(length)}.${secret}`]: 1 },
        });
        expect([response.status, /(yJ|%4a)(x|%78)/.test(response.text)]).toEqual([400, false]);
      }
  });

  test('in values of attributes', async () => {
    for (const secret of secrets)
      for (const length of lengths) {
        const text = `${'a'.repeat(length)}\n${secret}`;
        for (const value of [text, [text, 'M']]) {
          const body = { name: 'Lamp', price: 1, attributes: { quoted_size: value } };
          await expectNoPart(400, { method: 'POST', path: '/v1/products', body });
        }
      }
  });
});
