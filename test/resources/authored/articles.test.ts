/** Articles: what they hold, who may write them, and what remains when their author is deleted. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, type Person, removePerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/articles';
const input = { title: 'Wood', body: 'Walnut is dense.', tags: ['wood', 'workshop'] };
const halType = { Accept: 'application/hal+json' };

const refused: [name: string, body: unknown, problems: [string, string][]][] = [
  [
    'nothing',
    {},
    [
      ['title', 'required'],
      ['body', 'required'],
    ],
  ],
  ['a blank title', { ...input, title: ' \n' }, [['title', 'blank']]],
  ['a title of 201 characters', { ...input, title: 'x'.repeat(201) }, [['title', 'maxLength']]],
  ['a body of 100,001 characters', { ...input, body: 'x'.repeat(100_001) }, [['body', 'maxLength']]],
  ['a body that is null', { ...input, body: null }, [['body', 'type']]],
  ['51 tags', { ...input, tags: Array(51).fill('t') }, [['tags', 'maxItems']]],
  ['a blank tag', { ...input, tags: ['ok', ' '] }, [['tags.1', 'blank']]],
  ['U+0000', { ...input, body: '\u0000' }, [['body', 'characters']]],
];

describeOnDatabases('articles on %s', kind => {
  let service: TestService;
  let editor: Person;
  beforeAll(async () => {
    service = await startTestService(kind);
    editor = await addPerson(service, 'editor', { name: 'Ada Winter' });
  });
  afterAll(() => service.stop());

  async function write(by: Person, fields: object = {}) {
    const made = await call(service, {
      method: 'POST',
      path,
      headers: by.headers,
      body: { ...input, ...fields },
    });
    if (made.status !== 201) throw new Error(made.text);
    return made;
  }

  test.each(refused)('refuses %s', async (name, body, problems) => {
    await play(service, { name, method: 'POST', path, as: 'editor', body, status: 400, problems });
    const { id } = (await write(editor)).body;
    const target = `${path}/${id}`;
    await play(service, { name, method: 'PUT', path: target, as: 'editor', body, status: 400, problems });
  });

  test('the service sets id, author, times and links', async () => {
    const body = { ...input, id: 1, author: { id: 1, name: 'Eve' }, createdAt: 'x', _links: {} };
    const made = await play(service, {
      name: 'POST',
      method: 'POST',
      path,
      headers: editor.headers,
      body,
      status: 201,
    });
    const { id } = made.body;
    const self = `${service.url}${path}/${id}`;
    expect(made.headers.get('Location')).toBe(self);
    expect(made.body).toEqual({
      ...input,
      id,
      author: { id: editor.id, name: 'Ada Winter' },
      createdAt: nowOf(service),
      updatedAt: nowOf(service),
      _links: { self, author: `${service.url}/v1/users/${editor.id}` },
    });
    service.clock.advance(1000);
    const found = await call(service, { path: `${path}/${id}`, as: 'user' });
    expect(found.text).toBe(made.text);
    expect(found.headers.get('ETag')).toBe(made.headers.get('ETag'));
    expect(found.headers.get('Last-Modified')).toBe(new Date(service.clock.now()).toUTCString());
  });

  test('staff and keys with content:write change an article; its author and createdAt stay', async () => {
    const before = (await write(editor)).body;
    const target = { path: `${path}/${before.id}` };
    service.clock.advance(2000);
    const put = await play(service, {
      ...target,
      name: 'PUT without tags',
      method: 'PUT',
      as: 'admin',
      body: { title: ' Oak ', body: '' },
      status: 200,
    });
    const updatedAt = nowOf(service);
    expect(put.body).toEqual({ ...before, title: 'Oak', body: '', tags: [], updatedAt });
    const key = await addKey(service, 'content:write', 'content:read');
    const patches: [type: string, body: unknown][] = [
      ['application/json', { title: 'Ash' }],
      ['application/merge-patch+json', { tags: ['a'], author: null }],
      ['application/json-patch+json', [{ op: 'add', path: '/tags/-', value: 'b' }]],
    ];
    for (const [type, body] of patches) {
      const headers = { ...key, 'Content-Type': type };
      await play(service, { ...target, name: type, method: 'PATCH', headers, body, status: 200 });
    }
    const { body } = await call(service, { ...target, as: 'user' });
    expect(body).toEqual({ ...before, title: 'Ash', body: '', tags: ['a', 'b'], updatedAt });
    const events = await eventsOf(service, 'article', before.id);
    expect(events.map(({ type }) => type)).toEqual(['article.created', ...Array(4).fill('article.updated')]);
    const { _links, ...last } = body;
    expect(events.at(-1)?.after).toEqual(last);
    expect(events[0]).toMatchObject({ actor: `user:${editor.id}`, before: null });
  });

  test('a JSON Patch of a read-only member is refused', async () => {
    const { id } = (await write(editor)).body;
    for (const member of ['id', 'author', 'createdAt', 'updatedAt', '_links']) {
      const refused = await play(service, {
        name: member,
        method: 'PATCH',
        path: `${path}/${id}`,
        as: 'editor',
        headers: { 'Content-Type': 'application/json-patch+json' },
        // No article has this id. Replacing a value with itself changes nothing and is allowed.
        body: [{ op: 'replace', path: `/${member}`, value: -1 }],
        status: 422,
        error: 'PATCH_RESULT_INVALID',
      });
      expect(refused.body.details).toMatchObject([{ field: member, code: 'readOnly' }]);
    }
  });

  test('users and keys without the scope may not write; a key cannot be an author', async () => {
    const { id } = (await write(editor)).body;
    const target = `${path}/${id}`;
    const reader = await addKey(service, 'content:read');
    const writer = await addKey(service, 'content:write');
    const forbidden = { status: 403, error: 'FORBIDDEN' } as const;
    await play(service, { name: 'user POST', method: 'POST', path, as: 'user', body: input, ...forbidden });
    await play(service, {
      name: 'key POST',
      method: 'POST',
      path,
      headers: writer,
      body: input,
      ...forbidden,
    });
    await play(service, { name: 'key GET', path: target, headers: writer, ...forbidden });
    await play(service, {
      name: 'user PUT',
      method: 'PUT',
      path: target,
      as: 'user',
      body: input,
      ...forbidden,
    });
    await play(service, {
      name: 'key DELETE',
      method: 'DELETE',
      path: target,
      headers: reader,
      ...forbidden,
    });
    await play(service, { name: 'reader', path: target, headers: reader, status: 200 });
    await play(service, {
      name: 'writer',
      method: 'DELETE',
      path: target,
      headers: writer,
      status: 204,
    });
    await play(service, { name: 'gone', path: target, as: 'user', status: 404, error: 'NOT_FOUND' });
  });

  test('a list can be filtered by author and tag, and sorted', async () => {
    const author = await addPerson(service, 'editor', { name: 'Ben' });
    const one = (await write(author, { title: 'c', tags: ['x%', 'only', 'only'] })).body.id;
    service.clock.advance(1000);
    const two = (await write(author, { title: 'a', tags: ['only'] })).body.id;
    const three = (await write(author, { title: 'b', tags: [] })).body.id;
    await write(editor, { tags: ['x'] });
    const ids = async (query: string) => {
      const { body } = await call(service, { path: `${path}?author=${author.id}&${query}`, as: 'user' });
      return [(body.data as { id: number }[]).map(({ id }) => id), body.meta.total];
    };
    expect(await ids('')).toEqual([[one, two, three], 3]);
    expect(await ids('tag=only')).toEqual([[one, two], 2]);
    expect(await ids('tag=only&sort=title')).toEqual([[two, one], 2]);
    expect(await ids('tag=only&perPage=1&page=2')).toEqual([[two], 2]);
    expect(await ids('tag=x%25')).toEqual([[one], 1]);
    expect(await ids('tag=x')).toEqual([[], 0]);
    expect(await ids('sort=createdAt&order=desc')).toEqual([[three, two, one], 3]);
    await call(service, { method: 'PATCH', path: `${path}/${one}`, as: 'admin', body: { tags: ['new'] } });
    expect(await ids('tag=only')).toEqual([[two], 1]);
    expect(await ids('tag=new')).toEqual([[one], 1]);
    await call(service, { method: 'DELETE', path: `${path}/${two}`, as: 'admin' });
    expect(await ids('tag=only')).toEqual([[], 0]);
    expect(await ids('')).toEqual([[one, three], 2]);
    const paged = await call(service, { path: `${path}?tag=new&limit=1`, as: 'user' });
    expect(paged.body.meta).toEqual({ perPage: 1, nextCursor: null, prevCursor: null });
  });

  test('HAL has links as objects, and only actions that the caller may take', async () => {
    const { id } = (await write(editor)).body;
    const target = `${path}/${id}`;
    const href = `${service.url}${target}`;
    const links = { self: { href } };
    // Only the author, administrators, and keys that may read users see the link to the author's account.
    const author = { href: `${service.url}/v1/users/${editor.id}` };
    const actions = { edit: { href, method: 'PATCH' }, delete: { href, method: 'DELETE' } };
    const own = await call(service, { path: target, headers: { ...editor.headers, ...halType } });
    expect(own.body._links).toEqual({ ...links, author, ...actions });
    const asAdmin = await call(service, { path: target, as: 'admin', headers: halType });
    expect(asAdmin.body._links).toEqual({ ...links, author, ...actions });
    const asUser = await call(service, { path: target, as: 'user', headers: halType });
    expect(asUser.headers.get('Content-Type')).toBe('application/hal+json');
    expect(asUser.body._links).toEqual(links);
    const asEditor = await call(service, { path: target, as: 'editor', headers: halType });
    expect(asEditor.body._links).toEqual({ ...links, ...actions });
    const reader = await addKey(service, 'content:read');
    const asKey = await call(service, { path: target, headers: { ...reader, ...halType } });
    expect(asKey.body._links).toEqual(links);
    const list = await call(service, {
      path: `${path}?author=${editor.id}&perPage=1`,
      as: 'user',
      headers: halType,
    });
    expect(list.body._embedded.articles).toHaveLength(1);
    expect(list.body._links.self).toEqual({ href: `${service.url}${path}?author=${editor.id}&perPage=1` });
  });

  test('If-Match accepts the ETag of the same Accept, for every kind of write', async () => {
    for (const headers of [halType, { Accept: 'application/json' }]) {
      const { id } = (await write(editor)).body;
      const target = { path: `${path}/${id}`, as: 'editor' } as const;
      const writes = [
        { ...target, method: 'PUT', body: input },
        { ...target, method: 'PATCH', body: { title: 'New' } },
        { ...target, method: 'DELETE' },
      ];
      for (const request of writes) {
        service.clock.advance(1000);
        const stale = { ...headers, 'If-Match': '"stale"' };
        await play(service, {
          ...request,
          name: 'stale',
          headers: stale,
          status: 412,
          error: 'PRECONDITION_FAILED',
        });
        const etag = (await call(service, { ...target, headers })).headers.get('ETag') ?? '';
        const done = await call(service, { ...request, headers: { ...headers, 'If-Match': etag } });
        expect(done.status).toBe(request.method === 'DELETE' ? 204 : 200);
      }
    }
  });

  test('an article outlives its author: the name stays, the link goes', async () => {
    const author = await addPerson(service, 'editor', { name: 'Cleo' });
    const made = (await write(author)).body;
    await removePerson(service, author);
    const { _links, ...rest } = made;
    const target = `${path}/${made.id}`;
    const found = await call(service, { path: target, as: 'user' });
    expect(found.body).toEqual({ ...rest, _links: { self: _links.self } });
    const hal = await call(service, { path: target, as: 'user', headers: halType });
    expect(hal.body._links).toEqual({ self: { href: _links.self } });
    const list = await call(service, { path: `${path}?author=${author.id}`, as: 'user' });
    expect(list.body.data).toEqual([found.body]);
    const gone = { method: 'POST', path, headers: author.headers, body: input } as const;
    await play(service, { ...gone, name: 'a token of nobody', status: 401, error: 'UNAUTHORIZED' });
  });
});
