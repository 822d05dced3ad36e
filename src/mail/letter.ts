/** A mail to one person, in plain text. */
export type Letter = { to: string; subject: string; text: string };
