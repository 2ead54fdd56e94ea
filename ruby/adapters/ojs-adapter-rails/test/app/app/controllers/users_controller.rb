# frozen_string_literal: true

# --- as in "Framework Adapters", section 8.1 ---
# app/controllers/users_controller.rb
class UsersController < ApplicationController
  def create
    ActiveRecord::Base.transaction do
      @user = User.create!(user_params)
      OJS.enqueue_after_commit('email.welcome', [@user.id])
    end
  end
end
# --- end ---

# What an application has besides.
class UsersController
  # Raises after it has enqueued.
  def fail
    ActiveRecord::Base.transaction do
      user = User.create!(user_params)
      WelcomeJob.perform_later(user)
      OJS.enqueue_after_commit("email.welcome", [user.id])
      raise "the payment was refused"
    end
  end

  private

  def user_params
    params.require(:user).permit(:email)
  end
end
