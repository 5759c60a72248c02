/** Comments on posts: every user writes their own, and staff remove unacceptable ones. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { nowOf } from '../../support/data/catalog.ts';
import { eventsOf } from '../../support/data/events.ts';
import { addKey, addPerson, type Person, removePerson } from '../../support/data/people.ts';
import { call } from '../../support/http/http.ts';
import { play } from '../../support/http/scenario.ts';
import { describeOnDatabases } from '../../support/service/databases.ts';
import { startTestService, type TestService } from '../../support/service/service.ts';

const halType = { Accept: 'application/hal+json' };
const forbidden = { status: 403, error: 'FORBIDDEN' } as const;

describeOnDatabases('comments on %s', kind => {
  let service: TestService;
  let writer: Person;
  beforeAll(async () => {
    service = await startTestService(kind);
    writer = await addPerson(service, 'user', { name: 'Ada Winter' });
  });
  afterAll(() => service.stop());

  async function addPost(): Promise<{ id: number; path: string }> {
    const body = { title: 'Open', body: 'Come in.' };
    const { id } = (await call(service, { method: 'POST', path: '/v1/posts', as: 'editor', body })).body;
    return { id, path: `/v1/posts/${id}/comments` };
  }
  const comment = (path: string, by: Person = writer, text = 'Nice.') =>
    call(service, { method: 'POST', path, headers: by.headers, body: { body: text } });

  test('the comments on all posts are one list, filtered by post and author and sorted by time', async () => {
    const [one, other] = [await addPost(), await addPost()];
    const reader = await addPerson(service, 'user', { name: 'Bo Summer' });
    const made = [await comment(one.path), await comment(other.path, reader), await comment(other.path)];
    const [first, second, third] = made.map(({ body }) => body.id);
    const list = async (query: string): Promise<number[]> => {
      const { body } = await call(service, { path: `/v1/comments?${query}`, as: 'user' });
      return body.data.map(({ id }: { id: number }) => id);
    };
    expect((await list('sort=id&order=desc&limit=3')).slice(0, 3)).toEqual([third, second, first]);
    expect(await list(`postId=${one.id}`)).toEqual([first]);
    expect(await list(`postId=${other.id}&sort=createdAt&order=desc`)).toEqual([third, second]);
    expect(await list(`author=${reader.id}`)).toEqual([second]);
    expect(await list(`author=${reader.id}&postId=${one.id}`)).toEqual([]);
  });

  test('refuses an invalid comment', async () => {
    const { path } = await addPost();
    const cases: [body: unknown, problems: [string, string][]][] = [
      [{}, [['body', 'required']]],
      [{ body: ' ' }, [['body', 'blank']]],
      [{ body: 'x'.repeat(5001) }, [['body', 'maxLength']]],
      [{ body: 5 }, [['body', 'type']]],
    ];
    for (const [body, problems] of cases)
      await play(service, {
        name: JSON.stringify(body).slice(0, 30),
        method: 'POST',
        path,
        as: 'user',
        body,
        status: 400,
        problems,
      });
    const gone = { path: '/v1/posts/2147483647/comments', as: 'user' } as const;
    await play(service, {
      ...gone,
      name: 'no post',
      method: 'POST',
      body: { body: 'x' },
      status: 404,
      error: 'NOT_FOUND',
    });
    await play(service, { ...gone, name: 'no list', status: 404, error: 'NOT_FOUND' });
  });

  test('the author is the caller, and the post is that of the path', async () => {
    const post = await addPost();
    const body = { body: ' Nice. ', postId: 1, author: { id: 1, name: 'Eve' } };
    const made = await play(service, {
      name: 'POST',
      method: 'POST',
      path: post.path,
      headers: writer.headers,
      body,
      status: 201,
    });
    const { id } = made.body;
    expect(made.headers.get('Location')).toBe(`${service.url}/v1/comments/${id}`);
    expect(made.body).toEqual({
      id,
      postId: post.id,
      body: 'Nice.',
      author: { id: writer.id, name: 'Ada Winter' },
      createdAt: nowOf(service),
      updatedAt: nowOf(service),
    });
    const found = await call(service, { path: `/v1/comments/${id}`, as: 'user' });
    expect(found.text).toBe(made.text);
    await play(service, { name: 'nested', path: `${post.path}/${id}`, as: 'user', status: 404 });
  });

  test('the author and administrators change and delete a comment; editors may delete it', async () => {
    const { path } = await addPost();
    const { id } = (await comment(path)).body;
    const target = { path: `/v1/comments/${id}` };
    const body = { body: 'Changed.' };
    for (const method of ['PUT', 'PATCH'] as const) {
      for (const as of ['user', 'editor'] as const)
        await play(service, { ...target, name: `${as} ${method}`, method, as, body, ...forbidden });
      await play(service, {
        ...target,
        name: `author ${method}`,
        method,
        headers: writer.headers,
        body,
        status: 200,
      });
      const byAdmin = await play(service, {
        ...target,
        name: `admin ${method}`,
        method,
        as: 'admin',
        body,
        status: 200,
      });
      expect(byAdmin.body.author).toEqual({ id: writer.id, name: 'Ada Winter' });
    }
    await play(service, { ...target, name: 'another', method: 'DELETE', as: 'user', ...forbidden });
    await play(service, { ...target, name: 'editor', method: 'DELETE', as: 'editor', status: 204 });
    expect((await eventsOf(service, 'comment', id)).map(({ type }) => type)).toEqual([
      'comment.created',
      ...Array(4).fill('comment.updated'),
      'comment.deleted',
    ]);
    const own = (await comment(path)).body.id;
    const remove = { method: 'DELETE', path: `/v1/comments/${own}`, headers: writer.headers };
    await play(service, { ...remove, name: 'author', status: 204 });
  });

  test('a key needs the scope, and cannot be an author', async () => {
    const { path } = await addPost();
    const { id } = (await comment(path)).body;
    const target = `/v1/comments/${id}`;
    const reader = await addKey(service, 'content:read');
    const moderator = await addKey(service, 'content:write');
    const body = { body: 'By a key' };
    await play(service, {
      name: 'POST',
      method: 'POST',
      path,
      headers: moderator,
      body,
      ...forbidden,
    });
    await play(service, { name: 'GET', path: target, headers: reader, status: 200 });
    await play(service, { name: 'reader', method: 'DELETE', path: target, headers: reader, ...forbidden });
    await play(service, { name: 'writer', method: 'DELETE', path: target, headers: moderator, status: 204 });
  });

  test('a list holds only the comments on its post; HAL links to the actions that the caller may take', async () => {
    const { id, path } = await addPost();
    const other = await addPost();
    const other1 = await addPerson(service, 'user', { name: 'Ben' });
    const first = (await comment(path)).body.id;
    await comment(other.path);
    const second = (await comment(path, other1)).body.id;
    const list = await call(service, { path: `${path}?sort=createdAt&order=desc`, as: 'user' });
    expect(list.body.data.map((item: { id: number }) => item.id)).toEqual([second, first]);
    expect(list.body.meta).toEqual({ currentPage: 1, perPage: 20, total: 2, lastPage: 1 });
    const seen = async (who: Record<string, string>) => {
      const { body } = await call(service, { path, headers: { ...who, ...halType } });
      const items = body._embedded.comments as { _links: object }[];
      return items.map(({ _links }) => Object.keys(_links));
    };
    const common = ['self', 'post'];
    expect(await seen(writer.headers)).toEqual([['self', 'author', 'post', 'edit', 'delete'], common]);
    expect(await seen({ Authorization: `Bearer ${service.tokens.editor}` })).toEqual([
      [...common, 'delete'],
      [...common, 'delete'],
    ]);
    const one = await call(service, {
      path: `/v1/comments/${first}`,
      headers: { ...writer.headers, ...halType },
    });
    expect(one.body._links.post).toEqual({ href: `${service.url}/v1/posts/${id}` });
  });

  test('comments are deleted with their post and with their author', async () => {
    const { id, path } = await addPost();
    const leaver = await addPerson(service, 'user', { name: 'Cleo' });
    const stays = (await comment(path)).body.id;
    const goes = (await comment(path, leaver)).body.id;
    await removePerson(service, leaver);
    await play(service, { name: 'gone', path: `/v1/comments/${goes}`, as: 'user', status: 404 });
    const list = await call(service, { path, as: 'user' });
    expect([list.body.meta.total, list.body.data[0].id]).toEqual([1, stays]);
    await call(service, { method: 'DELETE', path: `/v1/posts/${id}`, as: 'editor' });
    await play(service, { name: 'comment', path: `/v1/comments/${stays}`, as: 'user', status: 404 });
    await play(service, { name: 'list', path, as: 'user', status: 404 });
  });

  test('a comment sent during the deletion of its post is made before it or gets 404', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, path } = await addPost();
      const responses = await Promise.all([
        comment(path),
        comment(path),
        call(service, { method: 'DELETE', path: `/v1/posts/${id}`, as: 'editor' }),
        comment(path),
      ]);
      for (const { status } of responses) expect([201, 204, 404]).toContain(status);
      expect(responses[2]?.status).toBe(204);
    }
  });
});
