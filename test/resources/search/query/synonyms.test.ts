/** Synonyms: which callers write them, what is refused, and what searches find by them immediately. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { addProduct } from '../../../support/data/catalog.ts';
import { call } from '../../../support/http/http.ts';
import { play } from '../../../support/http/scenario.ts';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { startTestService, type TestService } from '../../../support/service/service.ts';

const path = '/v1/search/synonyms';

describeOnDatabases('synonyms on %s', kind => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(kind);
    for (const name of ['Corner couches', 'Sofa cover', 'Cell phone case', 'Mobile holder'])
      await addProduct(service, { name });
  });
  afterAll(() => service.stop());

  const add = (words: readonly string[]) =>
    call(service, { method: 'POST', path, as: 'admin', body: { words } });
  const found = async (query: string, where = service): Promise<string[]> => {
    const { body } = await call(where, { path: `/v1/search?q=${encodeURIComponent(query)}`, as: 'user' });
    return body.data.map(({ title }: { title: string }) => title).sort();
  };

  test('are created, read, listed, replaced and deleted, each with an event, and apply at once on every replica', async () => {
    const replica = await service.replica();
    expect(await found('sofas')).toEqual(['Sofa cover']);
    const made = await add(['Sofa', 'couch']);
    expect(made.status).toBe(201);
    const whole = {
      ...{ id: made.body.id, words: ['Sofa', 'couch'] },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    };
    expect(made.body).toEqual(whole);
    const own = `${path}/${made.body.id}`;
    expect((await call(service, { path: own, as: 'admin' })).body).toEqual(whole);
    expect((await call(service, { path, as: 'admin' })).body.data).toEqual([whole]);
    for (const where of [service, replica]) {
      expect(await found('sofas', where)).toEqual(['Corner couches', 'Sofa cover']);
      expect(await found('couch', where)).toEqual(['Corner couches', 'Sofa cover']);
    }
    const body = { words: ['sofa', 'settee'] };
    expect((await call(service, { method: 'PUT', path: own, as: 'admin', body })).body).toEqual({
      ...whole,
      ...body,
    });
    expect(await found('sofa', replica)).toEqual(['Sofa cover']);
    expect(await found('settee', replica)).toEqual(['Sofa cover']);
    const remove = { method: 'DELETE', path: own, as: 'admin' } as const;
    expect((await call(service, remove)).status).toBe(204);
    expect((await call(service, remove)).status).toBe(404);
    expect(await found('settee', replica)).toEqual([]);
    const events = await call(service, {
      path: `/v1/events?resource=synonym&resourceId=${made.body.id}`,
      as: 'admin',
    });
    expect(events.body.data.map(({ type }: { type: string }) => type)).toEqual([
      'synonym.created',
      'synonym.updated',
      'synonym.deleted',
    ]);
  });

  test('may consist of several words', async () => {
    const { body } = await add(['cell phone', 'mobile', 'handy']);
    expect(await found('mobile')).toEqual(['Cell phone case', 'Mobile holder']);
    expect(await found('handy')).toEqual(['Cell phone case', 'Mobile holder']);
    for (const form of ['cell phone', 'cell phones', 'Cells-Phone'])
      expect([form, await found(form)]).toEqual([form, ['Cell phone case', 'Mobile holder']]);
    // Any form of their words is found.
    const sofas = await add(['settee', 'corner couch']);
    expect(await found('settee')).toEqual(['Corner couches']);
    await call(service, { method: 'DELETE', path: `${path}/${sofas.body.id}`, as: 'admin' });
    await call(service, { method: 'DELETE', path: `${path}/${body.id}`, as: 'admin' });
  });

  const refused: readonly (readonly [name: string, body: object, field: string, rule: string])[] = [
    ['one word', { words: ['sofa'] }, 'words', 'minItems'],
    ['a word twice', { words: ['sofa', 'Sofa'] }, 'words', 'uniqueItems'],
    ['a blank word', { words: ['sofa', ' '] }, 'words.1', 'blank'],
    ['a word that no text has', { words: ['sofa', '+++'] }, 'words.1', 'pattern'],
    ['no words', {}, 'words', 'required'],
  ];
  test.each([...refused])('refuses %s', async (name, body, field, rule) => {
    const problems = [[field, rule]] as const;
    await play(service, { name, method: 'POST', path, as: 'admin', body, status: 400, problems });
  });

  test('are only for administrators', async () => {
    for (const as of ['user', 'editor'] as const) {
      await play(service, { name: `list, ${as}`, path, as, status: 403, error: 'FORBIDDEN' });
      const body = { words: ['a', 'b'] };
      await play(service, {
        name: `make, ${as}`,
        method: 'POST',
        path,
        as,
        body,
        status: 403,
        error: 'FORBIDDEN',
      });
    }
  });
});
