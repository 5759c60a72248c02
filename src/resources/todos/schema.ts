/** The schema of todos, with their own envelopes: `{data, total}` for the list, `{data}` for one. */
import { z } from 'zod';
import { identifier, text, timestamp } from '../../http/schema.ts';

/** The maximum number of todos of a user: the list has no pages. */
export const todosLimit = 1000;

const title = text(500)
  .describe('Trimmed; must not be blank.')
  .meta({ examples: ['Order more lamps'] });

const falseWords = ['', '0', 'false'];

/** Converts any JSON value to a boolean: false for null, 0, "", "0" and "false", otherwise true. */
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

/** PUT: an omitted `done` is false. */
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
    .describe('Only todos that are done, or only those that are not.'),
});

export type Todo = z.output<typeof todo>;
export type TodoFields = z.output<typeof replaceTodo>;
