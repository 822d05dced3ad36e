const POSITION_DIGITS = 12;
export const EVENT_ID_RANDOM_BYTES = 6;

/** Ids begin with the position, so that a dropped event can be told from one that never existed. */
export function eventId(position: bigint, random: Buffer): string {
  return `evt_${position.toString(16).padStart(POSITION_DIGITS, "0")}${random.toString("hex")}`;
}

/** Stands for an event that is not there, to continue after its position. */
export function placeholderId(position: bigint): string {
  return eventId(position, Buffer.alloc(EVENT_ID_RANDOM_BYTES));
}

export const EVENT_ID = /^evt_([0-9a-f]{12})[0-9a-f]{12}$/;

/** `null`: not the id of an event. */
export function positionOfEvent(id: string): bigint | null {
  const [, position] = EVENT_ID.exec(id) ?? [];
  return position === undefined ? null : BigInt(`0x${position}`);
}
