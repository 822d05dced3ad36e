/** What a person is told of by mail, whatever notifications they want: whoever knows their password could turn those off. */
export type AccountNotice = "password_changed" | "backup_codes_created" | TwoFactorChange;

export type TwoFactorChange = "two_factor_enabled" | "two_factor_disabled";
