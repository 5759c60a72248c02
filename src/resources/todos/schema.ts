/** THE schema of todos, with envelopes of their own: `{data, total}` for the list, `{data}` for one. */
import { z } from 'zod';
import { identifier, text, timestamp } from '../../http/schema.ts';

/** Todos of one user at most: the list is given as a whole. */
export const todosLimit = 1000;

const title = text(500)
  .describe('Trimmed; not blank.')
  .meta({ examples: ['Order more lamps'] });

const falseWords = ['', '0', 'false'];

/** Any JSON value as a boolean: true when it says something, false for null, 0, "", "0" and "false". */
const done = z
  .unknown()
  .transform(value =>
    typeof value === 'string' ? !falseWords.includes(value.trim().toLowerCase()) : Boolean(value),
  )
  .meta({ override: { description: 'Converted to a boolean.', examples: [true] } });

export const todo = z
  .object({ id: identifier(), title, done: z.boolean().meta({ examples: [false] }), createdAt: timestamp() })
  .meta({ id: 'Todo' });

export const todoList = z
  .object({
    data: z.array(todo).max(todosLimit),
    total: z
      .int()
      .min(0)
      .max(todosLimit)
      .meta({ examples: [1] }),
  })
  .meta({ id: 'TodoList' });

export const oneTodo = z.object({ data: todo }).meta({ id: 'TodoEnvelope' });

export const createTodo = z.object({ title }).meta({ id: 'CreateTodo' });

/** PUT: without `done` it is not done. */
export const replaceTodo = z
  .object({ title, done: done.optional() })
  .transform(input => ({ title: input.title, done: input.done ?? false }))
  .meta({ id: 'ReplaceTodo' });

export const patchTodo = z
  .object({ title: title.optional(), done: done.optional() })
  .meta({ id: 'PatchTodo' });

export const listTodos = z.object({
  done: z
    .enum(['true', 'false'])
    .optional()
    .describe('Only those that are done, or only those that are not.'),
});

export type Todo = z.output<typeof todo>;
export type TodoFields = z.output<typeof replaceTodo>;
