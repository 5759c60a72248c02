/** Writes of users and of what they author, and the paths that show them. */
import { type Area, patch, post, remove, sent, type Writes, words } from './area.ts';

/** One of a few users, none of whom makes the requests. */
const another = (id: number) => 4 + (id % 4);
const few = (id: number) => 1 + (id % 5);
const spare = (id: number) => 6 + (id % 4);
const roles = ['admin', 'editor', 'user'] as const;
const roleOf = (number: number) => roles[number % roles.length];

const writes: Writes = {
  user: ({ word, number, isFirst }) => {
    const fields = { name: word, email: `${word}${number}@shop.example`, tags: [word] };
    return post('/v1/users', { ...fields, role: isFirst ? 'user' : 'editor' });
  },
  changedUser: ({ id, word, number, isFirst }) =>
    patch(`/v1/users/${another(id)}`, { name: `${word} ${number}`, role: isFirst ? 'user' : 'editor' }),
  deletedUser: ({ id }) => remove(`/v1/users/${another(id)}`),
  ownName: ({ word, number }) => patch('/v1/users/3', { name: `${word} ${number}` }, 'user'),
  article: ({ word, number, isFirst }) =>
    post(
      '/v1/articles',
      { title: `${word} ${number}`, body: word, tags: [word] },
      isFirst ? 'admin' : 'editor',
    ),
  changedArticle: ({ id, word, isFirst }) =>
    patch(`/v1/articles/${few(id)}`, { body: word, tags: isFirst ? [] : [word] }),
  replacedArticle: ({ id, word }) => sent('PUT', `/v1/articles/${few(id)}`, { title: word, body: word }),
  deletedArticle: ({ id }) => remove(`/v1/articles/${spare(id)}`),
  post: ({ word, number }) => post('/v1/posts', { title: `${word} ${number}`, body: word }),
  changedPost: ({ id, word }) => patch(`/v1/posts/${few(id)}`, { title: word }),
  deletedPost: ({ id }) => remove(`/v1/posts/${spare(id)}`),
  comment: ({ id, word, number }) => post(`/v1/posts/${few(id)}/comments`, { body: word }, roleOf(number)),
  changedComment: ({ id, word }) => patch(`/v1/comments/${few(id)}`, { body: word }),
  deletedComment: ({ id }) => remove(`/v1/comments/${spare(id)}`),
  todo: ({ word, isFirst }) => post('/v1/todos', { title: word }, isFirst ? 'user' : 'admin'),
  changedTodo: ({ id, isFirst }) =>
    patch(`/v1/todos/${few(id)}`, { done: isFirst }, isFirst ? 'user' : 'admin'),
  deletedTodo: ({ id }) => remove(`/v1/todos/${spare(id)}`),
  key: ({ word }) => post('/v1/keys', { name: word, scopes: ['products:read'] }),
  deletedKey: ({ id }) => remove(`/v1/keys/${id}`),
  product: ({ word, number }) => post('/v1/products', { name: `${word} ${number}`, price: number }),
  deletedProduct: ({ id }) => remove(`/v1/products/${spare(id)}`),
  review: ({ id, number, word }) =>
    post(`/v1/products/${few(id)}/reviews`, { rating: 1 + (number % 5), body: word }, roleOf(number)),
  changedReview: ({ id, number }) => patch(`/v1/reviews/${few(id)}`, { rating: 1 + (number % 5) }),
  deletedReview: ({ id }) => remove(`/v1/reviews/${spare(id)}`),
};

const ids = Array.from({ length: 6 }, (_, index) => index + 1);
const reads: readonly string[] = [
  ...ids.flatMap(id => [
    ...['users', 'articles', 'posts', 'comments', 'todos', 'reviews', 'keys'].map(
      name => `/v1/${name}/${id}`,
    ),
    `/v1/posts/${id}/comments`,
    `/v1/products/${id}?include=reviews`,
    `/v1/products/${id}/reviews?sort=rating&order=desc`,
  ]),
  ...[
    'users',
    'users?sort=name',
    'users?role=editor',
    'users?tag=oak',
    'articles?sort=title',
    'articles?tag=oak',
  ].map(path => `/v1/${path}`),
  ...['posts?sort=title&order=desc', 'todos', 'keys', 'reviews?sort=rating', 'notifications', 'me'].map(
    path => `/v1/${path}`,
  ),
  '/v1/events?order=desc&perPage=100',
  ...words.flatMap(word => [`/v1/search?q=${word}`, `/v1/search?q=${word}&type=user`]),
];

export const people: Area = { writes, often: ['comment', 'review', 'post', 'product'], reads };
