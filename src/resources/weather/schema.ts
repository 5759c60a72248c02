/** The schema of weather. */
import { z } from 'zod';
import { prose, text, timestamp } from '../../http/schema.ts';

export const weather = z
  .object({
    city: prose(200),
    temperature: z.number().min(-120).max(80),
    unit: z.enum(['celsius']),
    conditions: prose(50),
    observedAt: timestamp(),
    source: prose(50).describe(
      'The provider of the observation; `bundled` for the usual weather of the season if none can be reached.',
    ),
    stale: z.boolean().describe('Whether this is an earlier observation because no newer one is available.'),
  })
  .meta({
    id: 'Weather',
    example: {
      city: 'Berlin',
      temperature: 3.4,
      unit: 'celsius',
      conditions: 'overcast',
      observedAt: '2026-01-15T09:30:00.000Z',
      source: 'open-meteo',
      stale: false,
    },
  });

export const weatherQuery = z.object({
  city: text(100).meta({ description: 'The name of a city, regardless of case.', examples: ['Berlin'] }),
});

export type Weather = z.output<typeof weather>;
