# frozen_string_literal: true

register("email.welcome") do |ctx|
  File.open(ENV.fetch("NOTES"), "a") { |file| file.puts("email #{User.find(ctx.args[0]).email} #{ctx.meta["ojs.context.user_id"]}") }
  OJS.enqueue_after_commit("email.follow_up", ctx.args, { queue: "follow-up" })
end
