/** A plain-text mail to one address. */
export type EmailMessage = { to: string; subject: string; text: string };

/**
 * `done`: the mail server has accepted it, or rejected it or its recipient: nobody needs to send it again. `unsent`: given
 * up here for another reason, also because the server refuses us.
 */
export type MailOutcome = "done" | "unsent";
