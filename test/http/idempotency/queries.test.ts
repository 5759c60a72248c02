/** Idempotency-Key on a POST whose query is part of the request's meaning. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../support/data/catalog.ts';
import { plainPng } from '../../support/data/images.ts';
import { addKey } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

describeOnDatabases('Idempotency-Key and the query on %s', kind => {
  let service: TestService;
  let productId: number;
  beforeAll(async () => {
    service = await startTestService(kind);
    productId = (await addProduct(service)).id;
  });
  afterAll(() => service.stop());

  async function upload(key: string, query: string, apiKey?: string) {
    const { status, headers, body } = await call(service, {
      method: 'POST',
      path: `/v1/products/${productId}/images${query}`,
      ...(apiKey === undefined ? { as: 'editor' } : {}),
      headers: { 'Idempotency-Key': key, 'Content-Type': 'image/png' },
      body: plainPng(7, 7, key.charCodeAt(0), 7, 7),
    });
    return [status, body.alt ?? body.error, headers.get('Idempotency-Replayed')];
  }

  test('the same key with another query is refused', async () => {
    expect(await upload('a', '?alt=Front')).toEqual([201, 'Front', null]);
    expect(await upload('a', '?alt=Back')).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', null]);
    expect(await upload('a', '')).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', null]);
    expect(await upload('b', '')).toEqual([201, undefined, null]);
    expect(await upload('b', '?alt=Front')).toEqual([422, 'IDEMPOTENCY_KEY_REUSED', null]);
  });

  test('another spelling, an unknown parameter or api_key does not make another request', async () => {
    expect(await upload('c', '?alt=Front+view')).toEqual([201, 'Front view', null]);
    for (const query of ['?a%6Ct=Front%20view', '?try=2&alt=Front+view', '?alt=Front+view&alt2=Back'])
      expect(await upload('c', query)).toEqual([201, 'Front view', 'true']);
    const { 'X-API-Key': apiKey } = await addKey(service, 'products:write');
    expect(await upload('d', `?alt=Front&api_key=${apiKey}`, apiKey)).toEqual([201, 'Front', null]);
    expect(await upload('d', `?api_key=${apiKey}&alt=Front`, apiKey)).toEqual([201, 'Front', 'true']);
  });
});
