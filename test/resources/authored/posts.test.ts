/** Posts: what they hold and who may write them. The tests of articles cover what both share. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, type Person, removePerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const path = '/v1/posts';
const input = { title: 'Open on Sunday', body: 'From noon to five.' };

describeOnDatabases('posts on %s', kind => {
  let service: TestService;
  let editor: Person;
  beforeAll(async () => {
    service = await startTestService(kind);
    editor = await addPerson(service, 'editor', { name: 'Ada Winter' });
  });
  afterAll(() => service.stop());

  const write = (fields: object = {}, by: Person = editor) =>
    call(service, { method: 'POST', path, headers: by.headers, body: { ...input, ...fields } });

  test('a post is created, changed and deleted', async () => {
    const made = await write();
    const { id } = made.body;
    const self = `${service.url}${path}/${id}`;
    expect(made.headers.get('Location')).toBe(self);
    const post = {
      ...input,
      id,
      author: { id: editor.id, name: 'Ada Winter' },
      createdAt: nowOf(service),
      updatedAt: nowOf(service),
      _links: { self, author: `${service.url}/v1/users/${editor.id}`, comments: `${self}/comments` },
    };
    expect(made.body).toEqual(post);
    const target = { path: `${path}/${id}` };
    service.clock.advance(1000);
    const updatedAt = nowOf(service);
    const put = { ...target, method: 'PUT', as: 'admin' } as const;
    await play(service, {
      ...put,
      name: 'PUT',
      body: { title: 'New', body: 'b' },
      status: 200,
      response: { ...post, title: 'New', body: 'b', updatedAt },
    });
    await play(service, {
      ...put,
      name: 'PUT without body',
      body: { title: 'New' },
      status: 400,
      problems: [['body', 'required']],
    });
    await play(service, {
      ...target,
      name: 'JSON Patch',
      method: 'PATCH',
      as: 'editor',
      headers: { 'Content-Type': 'application/json-patch+json' },
      body: [
        { op: 'test', path: '/title', value: 'New' },
        { op: 'replace', path: '/title', value: 'Newer' },
      ],
      status: 200,
      response: { ...post, title: 'Newer', body: 'b', updatedAt },
    });
    await play(service, { ...target, name: 'DELETE', method: 'DELETE', as: 'editor', status: 204 });
    await play(service, { ...target, name: 'GET', as: 'user', status: 404, error: 'NOT_FOUND' });
    expect((await eventsOf(service, 'post', id)).map(({ type }) => type)).toEqual([
      'post.created',
      'post.updated',
      'post.updated',
      'post.deleted',
    ]);
  });

  test('users read and do not write; a key cannot be an author', async () => {
    const { id } = (await write()).body;
    const target = `${path}/${id}`;
    const writer = await addKey(service, 'content:write');
    const forbidden = { status: 403, error: 'FORBIDDEN' } as const;
    await play(service, { name: 'GET', path: target, as: 'user', status: 200 });
    await play(service, { name: 'POST', method: 'POST', path, as: 'user', body: input, ...forbidden });
    await play(service, { name: 'DELETE', method: 'DELETE', path: target, as: 'user', ...forbidden });
    await play(service, {
      name: 'key',
      method: 'POST',
      path,
      headers: writer,
      body: input,
      ...forbidden,
    });
  });

  test('a list can be filtered by author and sorted; HAL links to the comments', async () => {
    const author = await addPerson(service, 'editor', { name: 'Ben' });
    const first = (await write({ title: 'b' }, author)).body.id;
    const second = (await write({ title: 'a' }, author)).body.id;
    await write();
    const query = `${path}?author=${author.id}&sort=title`;
    const list = await call(service, { path: query, as: 'user' });
    expect(list.body.data.map(({ id }: { id: number }) => id)).toEqual([second, first]);
    const hal = await call(service, {
      path: query,
      as: 'user',
      headers: { Accept: 'application/hal+json' },
    });
    const href = `${service.url}${path}/${second}`;
    expect(hal.body._embedded.posts[0]._links).toEqual({
      self: { href },
      comments: { href: `${href}/comments` },
    });
    await removePerson(service, author);
    const after = await call(service, { path: query, as: 'user' });
    expect(after.body.data).toHaveLength(2);
    expect(Object.keys(after.body.data[0]._links)).toEqual(['self', 'comments']);
  });
});
