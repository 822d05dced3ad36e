/**
 * A place in a list that is ordered by a time, then by id. Microseconds since the epoch tell apart what a
 * JavaScript date does not.
 */
export type ListPosition = { atMicros: string; id: string };

/** A time in microseconds since the epoch, as text. */
export function microsOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint::text`;
}

/** The time of a number of microseconds since the epoch. */
export function timeOf(micros: string): string {
  return `timestamptz 'epoch' + ${micros} * interval '1 microsecond'`;
}

/**
 * Condition: the row comes after the position in a list that shows the newest first; every row does where the
 * position is `null`.
 * @param row its time and id, such as `created_at, id`
 */
export function isAfter(row: string, [micros, id]: [micros: `$${number}`, id: `$${number}`]): string {
  return `(${micros}::bigint is null or (${row}) < (${timeOf(`${micros}::bigint`)}, ${id}::uuid))`;
}

/** The two parameters of a position; both `null` at the beginning of the list. */
export function positionParameters(
  position: ListPosition | null,
): [micros: string | null, id: string | null] {
  return [position?.atMicros ?? null, position?.id ?? null];
}
