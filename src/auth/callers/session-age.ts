const DAY_SECONDS = 24 * 60 * 60;

/** How long an unused session lasts, and the age from which a use refreshes it. */
export const REMEMBERED_SECONDS = 7 * DAY_SECONDS;
export const UPDATE_AGE_SECONDS = DAY_SECONDS;
