/** Users and their keys, and what they write. */
import { patch, post, remove, sent } from '../../support/areas/area.ts';
import { password } from '../../support/service/service.ts';
import { type Area, change, drop, from } from './world.ts';

export const people: Area = {
  async build({ name, add, at, by, person }) {
    await Promise.all([person('ada'), person('eve', 'editor'), person('root', 'admin')]);
    await add('key', '/v1/keys', { name, scopes: ['products:read'] }, by('root'));
    await add('todo', '/v1/todos', { title: name }, by('ada'));
    await add('post', '/v1/posts', { title: name, body: 'Text' }, by('eve'));
    await add('comment', `${at('post')}/comments`, { body: name }, by('ada'));
    await add('article', '/v1/articles', { title: name, body: name, tags: [name] }, by('eve'));
    await add('lamp', '/v1/products', { name: `${name} lamp`, price: 1, tags: [name] });
    await add('review', `${at('lamp')}/reviews`, { rating: 2, body: name }, by('ada'));
  },
  operations: {
    user: ({ name }) => post('/v1/users', { name, email: `${name}.new@people.example`, password }),
    email: change('ada', ({ name }) => ({ email: `${name}.new@people.example` })),
    ownEmail: from('eve', ({ at, name }) =>
      patch(at('eve'), { email: `${name}.new@people.example`, currentPassword: password }),
    ),
    promote: change('ada', () => ({ role: 'editor' })),
    demoteEve: change('eve', () => ({ role: 'user' })),
    demoteRoot: change('root', () => ({ role: 'user' })),
    rename: change('ada', ({ name }) => ({ name: `${name} Ada` })),
    replace: ({ at, name }) =>
      sent('PUT', at('ada'), { name, email: `${name}.ada@people.example`, role: 'user', tags: [name] }),
    password: from('ada', () =>
      sent('PUT', '/v1/me/password', { currentPassword: password, newPassword: 'another long password' }),
    ),
    signIn: ({ name }) => ({
      ...{ method: 'POST', path: '/v1/auth/login', headers: {} },
      body: { email: `${name}.ada@people.example`, password },
    }),
    refresh: ({ refreshToken }) => ({
      ...{ method: 'POST', path: '/v1/auth/refresh', headers: {} },
      body: { refreshToken: refreshToken('ada') },
    }),
    signOut: ({ refreshToken }) => ({
      ...{ method: 'POST', path: '/v1/auth/logout', headers: {} },
      body: { refreshToken: refreshToken('ada') },
    }),
    verify: ({ at }) => post(`${at('ada')}/verify`, undefined),
    leave: from('ada', () => post('/v1/me/deletion', { currentPassword: password })),
    removeAda: drop('ada'),
    removeEve: drop('eve'),
    removeRoot: drop('root'),
    newKey: from('root', ({ name }) => post('/v1/keys', { name: `${name} two`, scopes: ['orders:read'] })),
    revoke: drop('key'),
    todo: from('ada', ({ name }) => post('/v1/todos', { title: `${name} two` })),
    done: from('ada', ({ at }) => patch(at('todo'), { done: true })),
    removeTodo: from('ada', ({ at }) => remove(at('todo'))),
    post: from('eve', ({ name }) => post('/v1/posts', { title: `${name} two`, body: 'Text' })),
    changePost: from('eve', ({ at, name }) => patch(at('post'), { title: `${name} three` })),
    removePost: drop('post'),
    comment: from('ada', ({ at, name }) => post(`${at('post')}/comments`, { body: `${name} two` })),
    changeComment: from('ada', ({ at, name }) => patch(at('comment'), { body: `${name} three` })),
    removeComment: drop('comment'),
    article: from('eve', ({ name }) =>
      post('/v1/articles', { title: `${name} two`, body: 'Text', tags: [name] }),
    ),
    changeArticle: from('eve', ({ at }) => patch(at('article'), { body: 'Other', tags: [] })),
    removeArticle: drop('article'),
    review: from('eve', ({ at }) => post(`${at('lamp')}/reviews`, { rating: 5 })),
    reviewAgain: from('ada', ({ at }) => post(`${at('lamp')}/reviews`, { rating: 4 })),
    changeReview: from('ada', ({ at }) => patch(at('review'), { rating: 1 })),
    removeReview: drop('review'),
    price: change('lamp', () => ({ price: 2 })),
    removeLamp: drop('lamp'),
  },
  reads: ({ at, id, by, name }) => [
    ...[
      ...['ada', 'eve', 'root', 'key', 'post', 'comment', 'article', 'lamp', 'review'].map(at),
      `${at('post')}/comments`,
      `${at('lamp')}/reviews`,
      `${at('lamp')}?include=reviews`,
      ...['articles', 'posts', 'comments', 'reviews'].flatMap(list =>
        ['ada', 'eve'].map(key => `/v1/${list}?author=${id(key)}`),
      ),
      `/v1/articles?tag=${name}`,
      ...['ada', 'new'].map(one => `/v1/users?email=${name}.${one}@people.example`),
      `/v1/search?q=${name}`,
    ].map(path => sent('GET', path)),
    ...['/v1/me', '/v1/todos', '/v1/notifications'].map(path => ({ path, headers: by('ada') })),
    { path: '/v1/me', headers: by('root') },
  ],
};
